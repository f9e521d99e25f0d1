// As many pipelined rings at once as a node has NICs, each with a share of the vector and a NIC of its own.
#include <algorithm>

#include "core/collectives/pipelined_ring.hpp"

namespace trigram {

namespace {

class MultiRailRing final : public PipelinedRing {
 public:
  Pipeline pipeline(const Neighbourhood& where, Buffer x) const override {
    const std::vector<std::vector<int>> nodes = ranks_by_node(where.node_of);
    std::size_t rails = where.nic_per_rank ? nodes.front().size() : 1;
    for (const std::vector<int>& node : nodes) rails = std::min(rails, node.size());
    const int rings = static_cast<int>(rails);
    Pipeline all;
    for (int rail = 0; rail < rings; ++rail)
      add_ring(order_of(nodes, rail), x.chunk(rail, rings), Laps::two, where.hop, all);
    return all;
  }
};

const AllReduces::Registration multi_rail_ring(
    "multi_rail_ring",
    {"pipelined rings, one for each NIC of a node, which share the vector: every NIC is used, as in NCCL",
     "NVIDIA, NCCL: one channel a NIC, docs.nvidia.com/deeplearning/nccl"},
    [](Params&) { return std::make_unique<MultiRailRing>(); });

}  // namespace

}  // namespace trigram
