// The addresses behind a host's name.
#pragma once

#include <netdb.h>

#include <memory>
#include <string>

namespace trigram {

/// Gives a list back to the resolver.
struct FreeAddresses {
  void operator()(addrinfo* addresses) const { freeaddrinfo(addresses); }
};
using Addresses = std::unique_ptr<addrinfo, FreeAddresses>;

/// Those of `host`, a name or a numeric address, also one of IPv6 in brackets. Empty, with the resolver's reason in
/// `reason`, where the name is unknown (yet).
Addresses addresses_of(const std::string& host, int port, std::string& reason);

/// The numbers of an address: "127.0.0.1", "::1".
std::string numbers_of(const sockaddr* address, socklen_t length);

}  // namespace trigram
