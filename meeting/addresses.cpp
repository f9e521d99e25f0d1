#include "meeting/addresses.hpp"

#include <sys/socket.h>

#include <array>

namespace trigram {

Addresses addresses_of(const std::string& host, int port, std::string& reason) {
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  const std::string name = bracketed ? host.substr(1, host.size() - 2) : host;
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(name.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (error == 0) return Addresses(found);
  reason = gai_strerror(error);
  return {};
}

std::string numbers_of(const sockaddr* address, socklen_t length) {
  std::array<char, NI_MAXHOST> host{};
  const int error = getnameinfo(address, length, host.data(), host.size(), nullptr, 0, NI_NUMERICHOST);
  return error == 0 ? host.data() : gai_strerror(error);
}

}  // namespace trigram
