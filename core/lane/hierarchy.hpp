// The H of Bagua's relaxations: exchange inside a node first, between nodes second.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "core/lane/communicator.hpp"
#include "core/lane/worker.hpp"
#include "core/values/cost.hpp"
#include "core/world/placement.hpp"

namespace trigram {

/// How the values of a node become the one that travels between nodes.
enum class NodeValue : std::uint8_t {
  weighted_mean,  ///< node sum · nodes / world: the mean over nodes is then the mean over ranks, also for unequal nodes
  mean            ///< node sum / node size: the node is one vertex of a decentralized method
};

/// All of it is inside the data-parallel group of a rank: a node is those of its ranks that share one.

/// The communicator among which a primitive runs on this rank, and the part of `x` that it holds there: all of x in
/// the flat group and on leaders, this rank's chunk for all_nics, nothing on a rank that is not a leader.
struct PrimitiveGroup {
  Communicator* comm = nullptr;  ///< null on ranks that take no part
  Buffer part;
};
PrimitiveGroup primitive_group(Worker& worker, Buffer x);

/// What the primitive connects: ranks on their nodes, or nodes.
Vertices vertices(const Worker& worker);

/// Throws UsageError where `all_nics` is no hierarchy of these nodes, by rank; `where` they are is for the message.
void require_equal_nodes(const std::vector<int>& nodes, const char* where);

/// Runs `primitive` on this rank's part of `x` inside the worker's hierarchy and leaves the result in x on all ranks.
void hierarchical(Worker& worker, Buffer x, NodeValue value,
                  const std::function<void(Communicator&, Buffer)>& primitive);
/// The same for several buffers, of whose parts one call of the primitive takes care.
void hierarchical(Worker& worker, std::span<const Buffer> all, NodeValue value,
                  const std::function<void(Communicator&, std::span<const Buffer>)>& primitive);

/// The same for x in the layout's chunks (World::hierarchy_chunks): while `primitive` runs for one of them on the
/// network lane, the node's ranks get back the one before it and add up the next. k chunks whose phases take u up, p
/// between nodes and d down last u + k p + d where p is at least u + d, else (k − 1) (u + d) + max(u, p) + max(d, p).
/// Each element is added up in the order of its chunk. With one chunk, or no hierarchy, it is `hierarchical`.
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
