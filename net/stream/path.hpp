// Ways from this host to a listener.
#pragma once

#include <vector>

#include "net/connection/interfaces.hpp"

namespace trigram::net {

struct Path {
  Interface from;
  Address to;
};

/// Every pair of an interface and an address of its network; for an address or an interface that is in none, the pair
/// of the same place in both lists, which a router joins.
std::vector<Path> paths_to(const std::vector<Interface>& interfaces, const std::vector<Address>& addresses);

/// How many connections a path has: what is asked for, else one, more from 25 Gbit/s on and on loopback, which one
/// connection may not carry.
int streams_of(const Path& path, int asked);

}  // namespace trigram::net
