// Routes between the hosts of a platform.
#pragma once

#include <cstddef>
#include <simgrid/s4u.hpp>
#include <vector>

namespace trigram::sim {

/// Beyond so many hosts, the routes of each to a few others stand for all.
constexpr std::size_t all_pairs_below = 129;

/// The links from one host to another, and their latency.
inline std::vector<simgrid::s4u::Link*> route(const simgrid::s4u::Host* from, const simgrid::s4u::Host* to,
                                              double* latency) {
  std::vector<simgrid::s4u::Link*> links;
  from->route_to(to, links, latency);
  return links;
}

/// Pairs of different hosts whose routes are looked at.
template <class Visit>
void each_pair(const std::vector<simgrid::s4u::Host*>& hosts, Visit&& visit) {
  const std::size_t n = hosts.size();
  for (std::size_t a = 0; a < n; ++a) {
    for (std::size_t distance = 1; distance < n; distance = n < all_pairs_below ? distance + 1 : distance * 2) {
      visit(hosts[a], hosts[(a + distance) % n]);
    }
  }
}

}  // namespace trigram::sim
