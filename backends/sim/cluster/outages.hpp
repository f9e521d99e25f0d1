// Outages as changes: what stops is a NIC of next to no bandwidth, a GPU of next to no speed.
#pragma once

#include <functional>
#include <vector>

#include "backends/sim/cluster/events.hpp"

namespace trigram::sim {

/// `changes` with those that outages bring, by time. While a part is stopped nothing else changes it; then it is what
/// `changes` have made of it, or `initial(change)`, its quantity before the first of them. `ranks_of` has the ranks of
/// a node.
std::vector<Change> with_outages(const std::vector<Change>& changes, const std::vector<Outage>& outages,
                                 const std::function<std::vector<int>(int)>& ranks_of,
                                 const std::function<double(const Change&)>& initial);

}  // namespace trigram::sim
