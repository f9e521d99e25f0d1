#include "net/connection/address.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

namespace trigram::net {
namespace {

const sockaddr_in& four(const sockaddr_storage& storage) { return reinterpret_cast<const sockaddr_in&>(storage); }
const sockaddr_in6& six(const sockaddr_storage& storage) { return reinterpret_cast<const sockaddr_in6&>(storage); }

}  // namespace

socklen_t Address::length() const { return family() == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6); }

std::uint16_t Address::port() const {
  return ntohs(family() == AF_INET ? four(storage).sin_port : six(storage).sin6_port);
}

void Address::set_port(std::uint16_t port) {
  if (family() == AF_INET) {
    reinterpret_cast<sockaddr_in&>(storage).sin_port = htons(port);
  } else {
    reinterpret_cast<sockaddr_in6&>(storage).sin6_port = htons(port);
  }
}

std::span<const std::uint8_t> Address::host() const {
  if (family() == AF_INET) return {reinterpret_cast<const std::uint8_t*>(&four(storage).sin_addr), 4};
  return {reinterpret_cast<const std::uint8_t*>(&six(storage).sin6_addr), 16};
}

std::span<std::uint8_t> Address::host() {
  const auto bytes = static_cast<const Address*>(this)->host();
  return {const_cast<std::uint8_t*>(bytes.data()), bytes.size()};
}

std::string Address::text() const {
  char text[INET6_ADDRSTRLEN] = "?";
  inet_ntop(family(), host().data(), text, sizeof text);
  return text;
}

bool same_network(const Address& one, const Address& other, int bits) {
  if (one.family() != other.family()) return false;
  const auto left = one.host();
  const auto right = other.host();
  for (std::size_t i = 0; i < left.size() && bits > 0; ++i, bits -= 8) {
    const int mask = bits >= 8 ? 0xff : 0xff00 >> bits & 0xff;
    if ((left[i] ^ right[i]) & mask) return false;
  }
  return true;
}

}  // namespace trigram::net
