#include "core/topologies/vertices_by_node.hpp"

#include <algorithm>
#include <bit>

#include "core/values/error.hpp"

namespace trigram {

void VerticesByNode::resize(const Vertices& vertices) {
  require(vertices.count >= 1, "a topology has at least one vertex, not ", vertices.count);
  node_of_.clear();
  nodes_.clear();
  for (int vertex = 0; vertex < vertices.count; ++vertex) {
    const auto node = static_cast<std::size_t>(node_of_.emplace_back(vertices.node(vertex)));
    nodes_.resize(std::max(nodes_.size(), node + 1));
    nodes_[node].push_back(vertex);
  }
}

int VerticesByNode::outside(int node, std::int64_t step) const {
  const std::vector<int>& inside = of(node);
  return inside[static_cast<std::size_t>(step) % inside.size()];
}

int VerticesByNode::hops(int count) {
  return count > 1 ? static_cast<int>(std::bit_width(static_cast<unsigned>(count - 1))) : 0;
}

}  // namespace trigram
