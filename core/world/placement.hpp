// The place of a rank on its node, and how an exchange is spread over nodes: values, for formulas and flags.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace trigram {

/// How an exchange (a mean or a gossip step: Bagua's primitives) is spread over nodes.
enum class Hierarchy : std::uint8_t {
  none,    ///< one flat group
  leader,  ///< reduce in the node to its first rank, exchange between these leaders, broadcast in the node
  /// Reduce-scatter in the node, exchange between the ranks with the same local rank, all-gather in the node; nodes of
  /// equal size only.
  all_nics
};

/// "none", "leader", "all_nics"; parse throws UsageError.
std::string_view name_of(Hierarchy hierarchy);
Hierarchy parse_hierarchy(std::string_view text);

/// The place of a rank in a group and on its node, for formulas that need no running ranks.
struct Placement {
  int rank = 0, ranks = 1;            ///< in the group
  int node = 0, nodes = 1;            ///< this rank's node, and how many nodes the group is on
  int local_rank = 0, node_size = 1;  ///< among the group's ranks on this node
};
Placement placement(const std::vector<int>& node_of_rank, int rank);

/// The vertices 0 … count − 1 of a graph, and which of them share a node.
struct Vertices {
  /// Each in a node of its own.
  Vertices(int vertices) : count(vertices) {}  // NOLINT(google-explicit-constructor): where nodes do not matter
  /// Vertex i is on node `node_of_vertex[i]`, numbered from 0 without gaps. Keeps the span: its memory must outlive
  /// this.
  explicit Vertices(std::span<const int> node_of_vertex)
      : count(static_cast<int>(node_of_vertex.size())), node_of(node_of_vertex) {}

  int node(int vertex) const { return node_of.empty() ? vertex : node_of[static_cast<std::size_t>(vertex)]; }

  int count;
  std::span<const int> node_of = {};  ///< empty: each in a node of its own
};

/// Number of participants of an exchange between nodes under `hierarchy`: ranks, or nodes.
int vertices(Hierarchy hierarchy, const Placement& place);

}  // namespace trigram
