// Ranks in their order on nodes of one size.
#pragma once

#include <vector>

namespace trigram {

/// The node of each rank, with `ranks_per_node` consecutive ranks per node; 0: all ranks on one node.
inline std::vector<int> nodes_of_ranks(int ranks, int ranks_per_node) {
  std::vector<int> nodes;
  for (int rank = 0; rank < ranks; ++rank) nodes.push_back(ranks_per_node == 0 ? 0 : rank / ranks_per_node);
  return nodes;
}

}  // namespace trigram
