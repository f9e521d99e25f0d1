// What topologies that know nodes share: who is where, and who goes out.
#pragma once

#include <cstdint>
#include <vector>

#include "core/world/placement.hpp"

namespace trigram {

/// The vertices of a graph by the node that each is in. In every step one vertex of each node, in turn, is outside: it
/// speaks with that of a node 1, 2, 4, … further, counted around.
class VerticesByNode {
 public:
  /// Throws UsageError where there is no vertex.
  void resize(const Vertices& vertices);

  int vertices() const { return static_cast<int>(node_of_.size()); }
  int nodes() const { return static_cast<int>(nodes_.size()); }
  int node_of(int vertex) const { return node_of_[static_cast<std::size_t>(vertex)]; }
  /// All vertices of each node.
  const std::vector<std::vector<int>>& all() const { return nodes_; }
  /// Those of one node, counted around.
  const std::vector<int>& of(int node) const { return nodes_[static_cast<std::size_t>((node + nodes()) % nodes())]; }

  /// Who of that node, counted around, is outside in this step; somebody is, too, where there is one node.
  int outside(int node, std::int64_t step) const;

  /// ⌈log₂ count⌉: distances 1, 2, 4, … around so many.
  static int hops(int count);
  /// The distance of this step around so many; 0 around one.
  static int distance(int count, std::int64_t step) { return count > 1 ? 1 << (step % hops(count)) : 0; }

 private:
  std::vector<int> node_of_ = {0};
  std::vector<std::vector<int>> nodes_ = {{0}};
};

}  // namespace trigram
