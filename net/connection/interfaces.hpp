// The network interfaces of this machine that carry messages.
#pragma once

#include <string>
#include <vector>

#include "net/connection/address.hpp"
#include "net/settings.hpp"

namespace trigram::net {

struct Interface {
  std::string name;
  Address address;
  int prefix = 0;        ///< bits of the address that name its network
  int speed = 0;         ///< Mbit/s as its driver says; 0: it says none
  std::string pci_path;  ///< in /sys; empty: it is no PCI device
};

constexpr std::size_t max_interfaces = 8;

/// Those that are up and have an address, by NCCL's rules for NCCL_SOCKET_IFNAME: "eth,ib" are beginnings of names,
/// "=eth0" whole names, "^docker" all others. Where nothing is asked for, loopback and docker count only if there is
/// nothing else. Throws Error where none is left, with those that there are.
std::vector<Interface> usable_interfaces(const Settings& settings);

/// Whether the list, as of NCCL_SOCKET_IFNAME, has that name.
bool names_interface(const std::string& list, const std::string& name);

}  // namespace trigram::net
