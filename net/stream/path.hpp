// Ways from this host to a listener.
#pragma once

#include <cstddef>
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

/// How many parts a message has: one for each connection of a lone path, which a real network carries at once; one on
/// loopback, where a caller's thread moves them one after the other. 0: several paths take what they can.
std::size_t parts_over(const std::vector<Path>& paths, std::size_t streams);

}  // namespace trigram::net
