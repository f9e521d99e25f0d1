// Where a rank stands in its nodes, and how a primitive is spread over them: values, for formulas and flags.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace trigram {

/// How a primitive is spread over nodes.
enum class Hierarchy : std::uint8_t {
  none,     ///< one flat group
  leader,   ///< node reduce to its first rank, the primitive among leaders, broadcast in the node
  all_nics  ///< reduce-scatter in the node, the primitive among ranks of one local rank, all-gather; equal nodes only
};

/// "none", "leader", "all_nics"; parse throws UsageError.
std::string_view name_of(Hierarchy hierarchy);
Hierarchy parse_hierarchy(std::string_view text);

/// Where a rank stands in its nodes, for formulas that need no running world.
struct Placement {
  int rank = 0, ranks = 1;
  int node = 0, nodes = 1;
  int local_rank = 0, node_size = 1;
};
Placement placement(const std::vector<int>& node_of_rank, int rank);

/// The vertices 0 … count − 1 of a graph, and which of them share a node.
struct Vertices {
  /// Each in a node of its own.
  Vertices(int vertices) : count(vertices) {}  // NOLINT(google-explicit-constructor): where nodes do not matter
  /// Vertex i is in node `node_of_vertex[i]`; nodes count from 0, without gaps. Looks at what is given.
  explicit Vertices(std::span<const int> node_of_vertex)
      : count(static_cast<int>(node_of_vertex.size())), node_of(node_of_vertex) {}

  int node(int vertex) const { return node_of.empty() ? vertex : node_of[static_cast<std::size_t>(vertex)]; }

  int count;
  std::span<const int> node_of = {};  ///< empty: each in a node of its own
};

/// Number of vertices that a primitive sees under `hierarchy`: ranks, or nodes.
int vertices(Hierarchy hierarchy, const Placement& place);

}  // namespace trigram
