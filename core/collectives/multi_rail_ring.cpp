// As many pipelined rings at once as a node has NICs, each with a share of the vector and a NIC of its own.
#include <algorithm>

#include "core/collectives/pipelined_ring.hpp"

namespace trigram {

namespace {

using Nodes = std::vector<std::vector<int>>;

Nodes ranks_by_node(std::span<const int> node_of) {
  Nodes nodes;
  for (std::size_t rank = 0; rank < node_of.size(); ++rank) {
    const auto node = static_cast<std::size_t>(node_of[rank]);
    if (nodes.size() <= node) nodes.resize(node + 1);
    nodes[node].push_back(static_cast<int>(rank));
  }
  std::erase_if(nodes, [](const std::vector<int>& node) { return node.empty(); });
  return nodes;
}

/// Enters each node at its rank of place `rail` and leaves it at the one before, so that no two rings share a NIC.
std::vector<int> order_of(const Nodes& nodes, int rail) {
  std::vector<int> order;
  for (const std::vector<int>& node : nodes) {
    for (std::size_t i = 0; i < node.size(); ++i)
      order.push_back(node[(static_cast<std::size_t>(rail) + i) % node.size()]);
  }
  return order;
}

class MultiRailRing final : public PipelinedRing {
 public:
  Pipeline pipeline(const Neighbourhood& where, Buffer x) const override {
    const Nodes nodes = ranks_by_node(where.node_of);
    std::size_t rails = where.nic_per_rank ? nodes.front().size() : 1;
    for (const std::vector<int>& node : nodes) rails = std::min(rails, node.size());
    const int rings = static_cast<int>(rails);
    Pipeline all;
    for (int rail = 0; rail < rings; ++rail) add_ring(order_of(nodes, rail), x.chunk(rail, rings), where.hop, all);
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
