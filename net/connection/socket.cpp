#include "net/connection/socket.hpp"

#include <fcntl.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "net/error.hpp"

namespace trigram::net {
namespace {

int new_socket(int family) { return ::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0); }

void set(int descriptor, int level, int option, int value) {
  setsockopt(descriptor, level, option, &value, sizeof value);
}

Moved moved(ssize_t result, std::size_t& bytes) {
  if (result >= 0) {
    bytes += static_cast<std::size_t>(result);
    return Moved::some;
  }
  if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) return Moved::nothing_yet;
  return errno == ETIMEDOUT || errno == EHOSTUNREACH || errno == ENETUNREACH ? Moved::timed_out : Moved::closed;
}

bool find_ends(int descriptor, Address& own, Address& other) {
  socklen_t length = sizeof own.storage;
  if (getsockname(descriptor, own.raw(), &length) != 0) return false;
  length = sizeof other.storage;
  return getpeername(descriptor, other.raw(), &length) == 0;
}

msghdr message_of(const iovec* parts, std::size_t count) {
  msghdr message{};
  message.msg_iov = const_cast<iovec*>(parts);
  message.msg_iovlen = count;
  return message;
}

}  // namespace

Socket& Socket::operator=(Socket&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

void Socket::close() {
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
}

Socket Socket::listening(Address& address) {
  Socket socket(new_socket(address.family()));
  address.set_port(0);
  socklen_t length = sizeof address.storage;
  if (!socket.open() || bind(socket.descriptor_, address.raw(), address.length()) != 0 ||
      listen(socket.descriptor_, 1024) != 0 || getsockname(socket.descriptor_, address.raw(), &length) != 0) {
    throw_system_error("cannot listen at " + address.text());
  }
  return socket;
}

Socket Socket::connecting(const Interface& from, const Address& to) {
  Socket socket(new_socket(to.family()));
  if (!socket.open()) return {};
  Address own = from.address;
  own.set_port(0);
  // Without the right to bind to a device, the address says which way replies come.
  setsockopt(socket.descriptor_, SOL_SOCKET, SO_BINDTODEVICE, from.name.data(),
             static_cast<socklen_t>(from.name.size()));
  if (bind(socket.descriptor_, own.raw(), own.length()) != 0) return {};
  if (connect(socket.descriptor_, to.raw(), to.length()) != 0 && errno != EINPROGRESS) return {};
  return socket;
}

Socket Socket::accept() const { return Socket(accept4(descriptor_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC)); }

Moved Socket::connected() const {
  pollfd wanted{descriptor_, POLLOUT, 0};
  if (poll(&wanted, 1, 0) <= 0) return Moved::nothing_yet;
  int error = 0;
  socklen_t length = sizeof error;
  getsockopt(descriptor_, SOL_SOCKET, SO_ERROR, &error, &length);
  if (error == 0) return Moved::some;
  return error == ECONNREFUSED || error == ECONNRESET ? Moved::closed : Moved::timed_out;
}

void Socket::prepare(std::size_t unsent, double timeout) const {
  set(descriptor_, IPPROTO_TCP, TCP_NODELAY, 1);
  limit_unsent(unsent);
  set(descriptor_, IPPROTO_TCP, TCP_USER_TIMEOUT, static_cast<int>(timeout * 1000));
  set(descriptor_, SOL_SOCKET, SO_KEEPALIVE, 1);
  set(descriptor_, IPPROTO_TCP, TCP_KEEPIDLE, 10);
  set(descriptor_, IPPROTO_TCP, TCP_KEEPINTVL, 5);
}

/// The plainest control of congestion, which all systems have and let all programs use: BBR holds packets back.
void Socket::hurry_within_host() const {
  Address own;
  Address other;
  if (!find_ends(descriptor_, own, other)) return;
  if (std::ranges::equal(own.host(), other.host())) setsockopt(descriptor_, IPPROTO_TCP, TCP_CONGESTION, "reno", 4);
}

void Socket::limit_unsent(std::size_t bytes) const {
  set(descriptor_, IPPROTO_TCP, TCP_NOTSENT_LOWAT, static_cast<int>(bytes));
}

/// The kernel takes one part faster without a msghdr.
Moved Socket::send(std::span<const iovec> parts, std::size_t& bytes) const {
  constexpr int flags = MSG_DONTWAIT | MSG_NOSIGNAL;
  if (parts.size() == 1) return moved(::send(descriptor_, parts[0].iov_base, parts[0].iov_len, flags), bytes);
  const msghdr message = message_of(parts.data(), parts.size());
  return moved(sendmsg(descriptor_, &message, flags), bytes);
}

Moved Socket::receive(std::span<iovec> parts, std::size_t& bytes) const {
  ssize_t result = 0;
  if (parts.size() == 1) {
    result = recv(descriptor_, parts[0].iov_base, parts[0].iov_len, MSG_DONTWAIT);
  } else {
    msghdr message = message_of(parts.data(), parts.size());
    result = recvmsg(descriptor_, &message, MSG_DONTWAIT);
  }
  return result == 0 ? Moved::closed : moved(result, bytes);
}

Measured Socket::measured() const {
  tcp_info info{};
  socklen_t length = sizeof info;
  if (getsockopt(descriptor_, IPPROTO_TCP, TCP_INFO, &info, &length) != 0) return {};
  const auto rate =
      info.tcpi_delivery_rate_app_limited ? std::nullopt : std::optional(static_cast<double>(info.tcpi_delivery_rate));
  return {info.tcpi_rtt, info.tcpi_min_rtt, info.tcpi_bytes_acked, rate};
}

std::size_t Socket::unacknowledged() const {
  int bytes = 0;
  return ioctl(descriptor_, SIOCOUTQ, &bytes) == 0 ? static_cast<std::size_t>(bytes) : 0;
}

std::string Socket::ends() const {
  Address own;
  Address other;
  if (find_ends(descriptor_, own, other)) return own.text() + " - " + other.text();
  return own.family() == AF_UNSPEC ? "?" : own.text() + " - ?";
}

}  // namespace trigram::net
