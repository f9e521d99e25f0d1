#include "meeting/socket.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <utility>

#include "core/values/error.hpp"
#include "meeting/addresses.hpp"

namespace trigram {
namespace {

using Steady = std::chrono::steady_clock;

[[noreturn]] void fail(const std::string& what) { throw BackendError(what + ": " + std::strerror(errno)); }

/// Whether one of the events came within so many milliseconds; -1: waits forever.
bool polled(int descriptor, short event, int milliseconds) {
  pollfd wanted{descriptor, event, 0};
  int ready = 0;
  do {
    ready = poll(&wanted, 1, milliseconds);
  } while (ready < 0 && errno == EINTR);
  return ready > 0;
}

/// Connects without hanging at an address that swallows packets.
bool connected(int descriptor, const addrinfo& address, std::string& reason) {
  constexpr int milliseconds = 5000;
  int error = 0;
  if (connect(descriptor, address.ai_addr, address.ai_addrlen) != 0) error = errno;
  if (error == EINPROGRESS) {
    socklen_t length = sizeof error;
    if (!polled(descriptor, POLLOUT, milliseconds)) {
      error = ETIMEDOUT;
    } else if (getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &length) != 0) {
      error = errno;
    }
  }
  if (error != 0) reason = std::strerror(error);
  return error == 0;
}

}  // namespace

/// A small request must not wait for the answer to the one before.
Socket::Socket(int descriptor) : descriptor_(descriptor) {
  const int yes = 1;
  setsockopt(descriptor_, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

Socket::~Socket() {
  if (open()) close(descriptor_);
}

Socket::Socket(Socket&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), patience_(other.patience_), end_(other.end_) {}

Socket& Socket::operator=(Socket&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(patience_, other.patience_);
  std::swap(end_, other.end_);
  return *this;
}

Socket Socket::connect_to(const std::string& host, int port, std::string& reason) {
  const Addresses addresses = addresses_of(host, port, reason);
  for (const addrinfo* address = addresses.get(); address != nullptr; address = address->ai_next) {
    const int type = address->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK;
    const int descriptor = socket(address->ai_family, type, address->ai_protocol);
    if (descriptor < 0) {
      reason = std::strerror(errno);
      continue;
    }
    Socket candidate(descriptor);
    if (connected(descriptor, *address, reason)) return candidate;
  }
  return {};
}

void Socket::shut() {
  if (open()) shutdown(descriptor_, SHUT_RDWR);
}

void Socket::end_within(double seconds) {
  end_.reset();
  if (seconds > 0)
    end_ = Steady::now() + std::chrono::duration_cast<Steady::duration>(std::chrono::duration<double>(seconds));
}

/// Whoever has given up an answer is not to take it for that to the next question.
void Socket::wait_for(short event) {
  constexpr double milliseconds = 1e3;
  std::optional<double> seconds;
  if (patience_ > 0) seconds = patience_;
  if (end_) {
    const double left = std::chrono::duration<double>(*end_ - Steady::now()).count();
    seconds = std::min(seconds.value_or(left), left);
  }
  const int longest = seconds ? static_cast<int>(std::ceil(*seconds * milliseconds)) : -1;
  if ((seconds && *seconds <= 0) || !polled(descriptor_, event, longest)) {
    shut();
    throw BackendError("the other end of a connection was silent for too long");
  }
}

void Socket::wait_for_word() { polled(descriptor_, POLLIN, -1); }

void Socket::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      wait_for(POLLOUT);
      continue;
    }
    if (sent <= 0) fail("a connection broke while writing");
    bytes = bytes.subspan(static_cast<std::size_t>(sent));
  }
}

bool Socket::read(std::span<std::byte> bytes) {
  bool first = true;
  while (!bytes.empty()) {
    wait_for(POLLIN);
    const ssize_t got = recv(descriptor_, bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (got < 0 && (errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK)) continue;
    if (got < 0) fail("a connection broke while reading");
    if (got == 0 && first) return false;
    if (got == 0) throw BackendError("a connection closed in the middle of a message");
    first = false;
    bytes = bytes.subspan(static_cast<std::size_t>(got));
  }
  return true;
}

void Socket::write_frame(const Bytes& bytes) {
  const std::uint64_t size = bytes.size();
  Bytes frame(sizeof size + bytes.size());
  std::memcpy(frame.data(), &size, sizeof size);
  std::ranges::copy(bytes, frame.begin() + sizeof size);
  write(frame);
}

bool Socket::read_frame(Bytes& bytes, std::uint64_t limit) {
  constexpr std::uint64_t piece = std::uint64_t{1} << 20;
  std::uint64_t size = 0;
  if (!read(std::as_writable_bytes(std::span(&size, 1)))) return false;
  if (size > limit) throw BackendError("a message of " + std::to_string(size) + " bytes is none of ours");
  bytes.clear();
  while (bytes.size() < size) {
    const std::size_t begin = bytes.size();
    bytes.resize(begin + static_cast<std::size_t>(std::min(piece, size - begin)));
    if (!read(std::span(bytes).subspan(begin))) throw BackendError("a connection closed in the middle of a message");
  }
  return true;
}

}  // namespace trigram
