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

/// Those that are up and have an address, by NCCL's rules for NCCL_SOCKET_IFNAME. Where nothing is asked for, those of
/// the first turn that has any. Throws Error where none is left, with those that there are.
std::vector<Interface> usable_interfaces(const Settings& settings);

/// Whether the list, as of NCCL_SOCKET_IFNAME, has that name: "eth,ib" are beginnings of names, "=eth0" whole names,
/// "^docker" and "^=eth0" all others. Of an entry "eth0:1:2:3" only the name counts, since the port, rail and plane
/// behind it are those of InfiniBand. A list without a name has all.
bool names_interface(const std::string& list, const std::string& name);

/// When an interface is considered where nothing is asked for, by NCCL's order: all others than docker's bridges,
/// loopback and libvirt's bridges come first, then these three.
int turn_of(const std::string& name, bool loopback);
constexpr int last_turn = 3;

}  // namespace trigram::net
