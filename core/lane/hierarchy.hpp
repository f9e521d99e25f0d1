// Hierarchical exchange (Bagua's H): inside each node first, then between nodes. A node here is the set of ranks of one
// data-parallel group that share a machine.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "core/lane/communicator.hpp"
#include "core/lane/worker.hpp"
#include "core/values/cost.hpp"
#include "core/world/placement.hpp"

namespace trigram {

/// How the values of a node's ranks become the one that is exchanged between nodes.
enum class NodeValue : std::uint8_t {
  weighted_mean,  ///< node sum · nodes / ranks: the mean over nodes is then the mean over ranks, also for unequal nodes
  mean            ///< node sum / node size: the node is one vertex of a decentralized method
};

/// The communicator on which an exchange between nodes runs on this rank, and the part of `x` that it holds there: all
/// of x in the flat group and on leaders, this rank's chunk for all_nics, nothing on a rank that is not a leader.
struct PrimitiveGroup {
  Communicator* comm = nullptr;  ///< null on ranks that take no part
  Buffer part;
};
PrimitiveGroup primitive_group(Worker& worker, Buffer x);

/// Participants of an exchange under the run's hierarchy: ranks on their nodes, or nodes.
Vertices vertices(const Worker& worker);

/// Throws UsageError where `all_nics` is no hierarchy of these nodes, by rank; `where` they are is for the error
/// message.
void require_equal_nodes(const std::vector<int>& nodes, const char* where);

/// Runs `primitive`, an exchange as a mean or a gossip step (what Bagua calls a primitive), on this rank's part of `x`
/// inside the worker's hierarchy and leaves the result in x on all ranks.
void hierarchical(Worker& worker, Buffer x, NodeValue value,
                  const std::function<void(Communicator&, Buffer)>& primitive);
/// The same for several buffers, whose parts one call of `primitive` exchanges together.
void hierarchical(Worker& worker, std::span<const Buffer> all, NodeValue value,
                  const std::function<void(Communicator&, std::span<const Buffer>)>& primitive);

/// The same, pipelined over World::hierarchy_chunks chunks of x: while `primitive` runs for one chunk on the network
/// lane, the node distributes the chunk before it and reduces the next. With k chunks, each u seconds in the node's
/// reduction, p in `primitive` and d in the node's broadcast or all-gather, it lasts u + k p + d where p ≥ u + d, else
/// (k − 1) (u + d) + max(u, p) + max(d, p). The order of additions depends on the chunk, so bits may differ from
/// `hierarchical`. With one chunk, or no hierarchy, it is `hierarchical`.
void hierarchical_by_chunks(Worker& worker, Buffer x, NodeValue value,
                            const std::function<void(Communicator&, Buffer)>& primitive);

/// Cost of `hierarchical` for `rank`: the node's part, plus `primitive(ranks of the group, rank in it, elements)`.
Cost hierarchical_cost(Hierarchy hierarchy, const Placement& place, std::int64_t count, std::int64_t element_bytes,
                       const std::function<Cost(int ranks, int rank, std::int64_t count)>& primitive);
/// The same of `hierarchical_by_chunks`.
Cost hierarchical_by_chunks_cost(int chunks, Hierarchy hierarchy, const Placement& place, std::int64_t count,
                                 std::int64_t element_bytes,
                                 const std::function<Cost(int ranks, int rank, std::int64_t count)>& primitive);

}  // namespace trigram
