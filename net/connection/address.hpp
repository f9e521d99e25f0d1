// Addresses of TCP, IPv4 and IPv6.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace trigram::net {

/// One end of a connection.
struct Address {
  sockaddr_storage storage{};

  sockaddr* raw() { return reinterpret_cast<sockaddr*>(&storage); }
  const sockaddr* raw() const { return reinterpret_cast<const sockaddr*>(&storage); }
  socklen_t length() const;
  int family() const { return storage.ss_family; }
  std::uint16_t port() const;
  void set_port(std::uint16_t port);
  /// The four or sixteen bytes of the host.
  std::span<std::uint8_t> host();
  std::span<const std::uint8_t> host() const;
  /// "10.0.0.1", "fd00::1".
  std::string text() const;
};

/// Whether the first so many bits of both hosts are the same.
bool same_network(const Address& one, const Address& other, int bits);

}  // namespace trigram::net
