#include "net/connection/interfaces.hpp"

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>

#include "net/error.hpp"

namespace trigram::net {
namespace {

struct Found {
  Interface interface;
  bool loopback = false;
};

Address address_of(const sockaddr* raw) {
  Address address;
  std::memcpy(&address.storage, raw, raw->sa_family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6));
  return address;
}

int speed_of(const std::string& name) {
  int speed = 0;
  std::ifstream("/sys/class/net/" + name + "/speed") >> speed;
  return std::max(speed, 0);
}

std::string pci_path_of(const std::string& name) {
  std::error_code error;
  const auto path = std::filesystem::canonical("/sys/class/net/" + name + "/device", error);
  return error ? "" : path.string();
}

bool usable(const ifaddrs& entry, int family) {
  if (!entry.ifa_addr || !entry.ifa_netmask || !(entry.ifa_flags & IFF_UP) || !(entry.ifa_flags & IFF_RUNNING))
    return false;
  const int own = entry.ifa_addr->sa_family;
  if ((own != AF_INET && own != AF_INET6) || (family != 0 && own != family)) return false;
  return own != AF_INET6 || !IN6_IS_ADDR_LINKLOCAL(&reinterpret_cast<const sockaddr_in6*>(entry.ifa_addr)->sin6_addr);
}

int prefix_of(const sockaddr* mask) {
  const Address address = address_of(mask);
  int bits = 0;
  for (const auto byte : address.host()) bits += std::popcount(byte);
  return bits;
}

/// One address an interface, IPv4 before IPv6.
std::vector<Found> all_interfaces(int family) {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) throw_system_error("cannot list the network interfaces");
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(list, freeifaddrs);
  std::vector<Found> found;
  for (const int wanted : {AF_INET, AF_INET6}) {
    for (const ifaddrs* entry = list; entry; entry = entry->ifa_next) {
      if (!usable(*entry, family) || entry->ifa_addr->sa_family != wanted) continue;
      const std::string name = entry->ifa_name;
      if (std::any_of(found.begin(), found.end(), [&](const Found& one) { return one.interface.name == name; }))
        continue;
      found.push_back(
          {{name, address_of(entry->ifa_addr), prefix_of(entry->ifa_netmask), speed_of(name), pci_path_of(name)},
           (entry->ifa_flags & IFF_LOOPBACK) != 0});
    }
  }
  return found;
}

std::string names_of(const std::vector<Found>& found) {
  std::string names;
  for (const auto& one : found) names += (names.empty() ? "" : ", ") + one.interface.name;
  return names.empty() ? "none" : names;
}

}  // namespace

bool names_interface(const std::string& list, const std::string& name) {
  const bool excluded = list.starts_with('^');
  const std::string rest = list.substr(excluded ? 1 : 0);
  const bool whole = rest.starts_with('=');
  std::istringstream entries(rest.substr(whole ? 1 : 0));
  bool any = false;
  bool named = false;
  for (std::string entry; std::getline(entries, entry, ',');) {
    const std::string wanted = entry.substr(0, entry.find(':'));
    any = any || !wanted.empty();
    named = named || (whole ? name == wanted : !wanted.empty() && name.starts_with(wanted));
  }
  return (named || !any) != excluded;
}

int turn_of(const std::string& name, bool loopback) {
  if (loopback) return 2;
  if (name.starts_with("docker")) return 1;
  return name.starts_with("virbr") ? 3 : 0;
}

std::vector<Interface> usable_interfaces(const Settings& settings) {
  const auto found = all_interfaces(settings.family);
  std::vector<Interface> chosen;
  const auto choose = [&](auto&& wanted) {
    for (const auto& one : found) {
      if (wanted(one) && chosen.size() < max_interfaces) chosen.push_back(one.interface);
    }
  };
  if (!settings.interfaces.empty()) {
    choose([&](const Found& one) { return names_interface(settings.interfaces, one.interface.name); });
  } else {
    for (int turn = 0; turn <= last_turn && chosen.empty(); ++turn) {
      choose([turn](const Found& one) { return turn_of(one.interface.name, one.loopback) == turn; });
    }
  }
  if (chosen.empty()) {
    throw Error(
        abi::Result::system_error,
        (settings.interfaces.empty() ? "no network interface is up"
                                     : "no network interface that is up is one of \"" + settings.interfaces + "\"") +
            "; those with an address are: " + names_of(found));
  }
  return chosen;
}

}  // namespace trigram::net
