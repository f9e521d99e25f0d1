#include "backends/gpu/host/socket.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <memory>
#include <thread>
#include <utility>

#include "core/error.hpp"

namespace trigram::gpu {
namespace {

[[noreturn]] void fail(const std::string& what) { throw BackendError(what + ": " + std::strerror(errno)); }

struct FreeAddresses {
  void operator()(addrinfo* addresses) const { freeaddrinfo(addresses); }
};
using Addresses = std::unique_ptr<addrinfo, FreeAddresses>;

/// Empty, with the resolver's reason in `reason`, where the name is unknown (yet).
Addresses resolve(const std::string& host, int port, std::string& reason) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (error != 0) reason = gai_strerror(error);
  return Addresses(found);
}

/// A small request must not wait for the answer to the one before.
void send_at_once(int descriptor) {
  const int yes = 1;
  setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

Socket try_once(const std::string& host, int port, std::string& reason) {
  const Addresses addresses = resolve(host, port, reason);
  for (const addrinfo* address = addresses.get(); address != nullptr; address = address->ai_next) {
    const int descriptor = socket(address->ai_family, address->ai_socktype | SOCK_CLOEXEC, address->ai_protocol);
    if (descriptor < 0) continue;
    Socket candidate(descriptor);
    if (connect(descriptor, address->ai_addr, address->ai_addrlen) == 0) {
      send_at_once(descriptor);
      return candidate;
    }
    reason = std::strerror(errno);
  }
  return {};
}

}  // namespace

Socket::~Socket() {
  if (open()) close(descriptor_);
}

Socket::Socket(Socket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

Socket& Socket::operator=(Socket&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

Socket Socket::listen_on(int port) {
  Socket listener(socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const bool both = listener.open();  // IPv6 sockets take IPv4 too
  if (!both) listener = Socket(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!listener.open()) fail("cannot open a socket");
  const int yes = 1;
  const int no = 0;
  setsockopt(listener.descriptor_, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_storage address{};
  socklen_t length = 0;
  if (both) {
    setsockopt(listener.descriptor_, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no);
    auto& any = reinterpret_cast<sockaddr_in6&>(address);
    any.sin6_family = AF_INET6;
    any.sin6_port = htons(static_cast<std::uint16_t>(port));
    length = sizeof any;
  } else {
    auto& any = reinterpret_cast<sockaddr_in&>(address);
    any.sin_family = AF_INET;
    any.sin_port = htons(static_cast<std::uint16_t>(port));
    length = sizeof any;
  }
  require(bind(listener.descriptor_, reinterpret_cast<sockaddr*>(&address), length) == 0,
          "rank 0 cannot listen on port " + std::to_string(port) + " (" + std::strerror(errno) +
              "); give another by TRIGRAM_PORT or rendezvous=tcp:HOST:PORT, the same on all ranks");
  if (listen(listener.descriptor_, SOMAXCONN) != 0) fail("cannot listen on port " + std::to_string(port));
  return listener;
}

Socket Socket::connect_to(const std::string& host, int port, double seconds) {
  using Steady = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds longest{1000};
  const Steady::time_point begin = Steady::now();
  std::chrono::milliseconds pause{10};
  std::string reason = "no address";
  while (true) {
    Socket connected = try_once(host, port, reason);
    if (connected.open()) return connected;
    if (seconds > 0 && Steady::now() - begin > std::chrono::duration<double>(seconds)) break;
    std::this_thread::sleep_for(pause);
    pause = std::min(longest, pause * 2);
  }
  throw BackendError("rank 0 did not answer at " + host + ":" + std::to_string(port) + " within " +
                     std::to_string(static_cast<int>(std::lround(seconds))) + " s (" + reason +
                     "); is it started, and can this host reach that port?");
}

int Socket::port() const {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  if (getsockname(descriptor_, reinterpret_cast<sockaddr*>(&address), &length) != 0) fail("a socket has no name");
  // Both kinds of address have their port in the same place.
  return ntohs(reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

Socket Socket::accept() {
  while (true) {
    const int descriptor = accept4(descriptor_, nullptr, nullptr, SOCK_CLOEXEC);
    if (descriptor >= 0) {
      send_at_once(descriptor);
      return Socket(descriptor);
    }
    if (errno != EINTR && errno != ECONNABORTED) return {};
  }
}

void Socket::shut() {
  if (open()) shutdown(descriptor_, SHUT_RDWR);
}

void Socket::give_up_after(double seconds) {
  timeval limit{};
  limit.tv_sec = static_cast<time_t>(seconds);
  limit.tv_usec = static_cast<suseconds_t>((seconds - std::floor(seconds)) * 1e6);
  setsockopt(descriptor_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  setsockopt(descriptor_, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
}

void Socket::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) fail("a connection broke while writing");
    bytes = bytes.subspan(static_cast<std::size_t>(sent));
  }
}

bool Socket::read(std::span<std::byte> bytes) {
  bool first = true;
  while (!bytes.empty()) {
    const ssize_t got = recv(descriptor_, bytes.data(), bytes.size(), 0);
    if (got < 0 && errno == EINTR) continue;
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
  std::uint64_t size = 0;
  if (!read(std::as_writable_bytes(std::span(&size, 1)))) return false;
  if (size > limit) throw BackendError("a message of " + std::to_string(size) + " bytes is none of ours");
  bytes.resize(size);
  return size == 0 || read(bytes);
}

}  // namespace trigram::gpu
