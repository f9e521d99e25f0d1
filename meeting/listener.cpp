#include "meeting/listener.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "core/values/error.hpp"
#include "core/values/quoted.hpp"
#include "meeting/addresses.hpp"

namespace trigram {
namespace {

/// The port, which both kinds of address have in the same place.
in_port_t& port_in(sockaddr& address) { return reinterpret_cast<sockaddr_in&>(address).sin_port; }

bool is_loopback(const std::string& numbers) { return numbers.starts_with("127.") || numbers == "::1"; }

std::string advice(int port) {
  if (port == 0) return "set MASTER_ADDR to an address of its machine, or to a name that stands for one";
  return "give an address of its machine and a free port by MASTER_ADDR and TRIGRAM_PORT or by "
         "rendezvous=tcp:HOST:PORT, the same on all ranks";
}

}  // namespace

Listener::Listener(const std::string& host, int port) : port_(port) {
  std::string reason;
  int error = 0;
  const Addresses addresses = addresses_of(host, port, reason);
  for (const addrinfo* address = addresses.get(); address != nullptr && error != EADDRINUSE;
       address = address->ai_next) {
    error = listen_at(*address);
    if (error != 0) reason = std::strerror(error);
  }
  if (!descriptors_.empty() && error != EADDRINUSE) return;
  for (const int descriptor : descriptors_) close(descriptor);
  throw UsageError("rank 0 cannot listen at " + shown(host) + (port == 0 ? "" : ":" + std::to_string(port)) + " (" +
                   reason + "); " + advice(port));
}

Listener::~Listener() {
  for (const int descriptor : descriptors_) close(descriptor);
}

int Listener::listen_at(const addrinfo& address) {
  const std::string numbers = numbers_of(address.ai_addr, address.ai_addrlen);
  if (std::ranges::find(addresses_, numbers) != addresses_.end()) return 0;  // hosts files say things twice
  const int type = address.ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK;
  const int descriptor = socket(address.ai_family, type, address.ai_protocol);
  const int yes = 1;
  if (descriptor >= 0) {
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (address.ai_family == AF_INET6) setsockopt(descriptor, IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof yes);
  }
  sockaddr_storage bound{};
  std::memcpy(&bound, address.ai_addr, address.ai_addrlen);
  auto& generic = reinterpret_cast<sockaddr&>(bound);
  port_in(generic) = htons(static_cast<std::uint16_t>(port_));  // of port 0 the first address decides
  socklen_t length = address.ai_addrlen;
  if (descriptor < 0 || bind(descriptor, &generic, length) != 0 || listen(descriptor, SOMAXCONN) != 0 ||
      getsockname(descriptor, &generic, &length) != 0) {
    const int error = errno;
    if (descriptor >= 0) close(descriptor);
    return error;
  }
  addresses_.push_back(numbers);
  local_only_ = local_only_ && is_loopback(numbers);
  port_ = ntohs(port_in(generic));
  descriptors_.push_back(descriptor);
  return 0;
}

Socket Listener::accept() {
  constexpr std::chrono::milliseconds shortage{20};
  constexpr int patience = 200;
  while (!shut_) {
    std::vector<pollfd> wanted;
    for (const int descriptor : descriptors_) wanted.push_back({descriptor, POLLIN, 0});
    if (poll(wanted.data(), wanted.size(), patience) <= 0) continue;
    for (const pollfd& ready : wanted) {
      if (ready.revents == 0 || shut_) continue;
      const int descriptor = accept4(ready.fd, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
      if (descriptor >= 0) return Socket(descriptor);
      if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED) std::this_thread::sleep_for(shortage);
    }
  }
  return {};
}

void Listener::shut() {
  shut_ = true;
  for (const int descriptor : descriptors_) shutdown(descriptor, SHUT_RDWR);
}

}  // namespace trigram
