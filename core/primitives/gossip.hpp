// One exchange with all neighbours: what decentralized methods stand on.
#pragma once

#include <vector>

#include "core/lane/worker.hpp"
#include "core/step/algorithm.hpp"
#include "core/topologies/topology.hpp"

namespace trigram {

/// Every x in `values` becomes Σ_j W_ij x_j of the topology's row of communication round `round`, added in ascending
/// order of j. They may have any types and sizes, the same on all ranks, and travel together: one round, a message for
/// each value and neighbour. A neighbour that is gone, where the backend leaves out such, is left out of the row: what
/// it would weigh, this rank's own x does. With hierarchy every node is one vertex whose value is the plain mean of its
/// ranks. On a lane; the topology has `vertices(lane)`.
void gossip(Worker& lane, const Topology& topology, std::int64_t round, const std::vector<Buffer>& values);
/// Rounds and bytes of one such call.
Cost gossip_cost(const CostQuery& query, const Topology& topology, std::int64_t round,
                 const std::vector<Shape>& values);

/// A round with the peers of the topology in which each gets `bytes`; none where there is nobody to hear or to tell.
Cost neighbour_cost(const Topology& topology, int vertex, std::int64_t round, std::int64_t bytes);

}  // namespace trigram
