// The trees of NCCL: two over nodes, chains inside them.
#pragma once

#include <functional>
#include <vector>

#include "core/lane/all_reduce.hpp"

namespace trigram {

using RanksByNode = std::vector<std::vector<int>>;           ///< ranks by node
using HopSeconds = std::function<double(int from, int to)>;  ///< seconds

/// Part p of the vector is that of rail p/2 and of one of its two trees: ranks of a node in a chain from the one of the
/// rail on, whose first is in the tree over nodes.
struct NcclParts {
  int rails;

  int count() const { return 2 * rails; }
  static int tree(int part) { return part % 2; }
  /// The place in its node of the one that the chain begins with.
  static int head(int part, int node_size) { return part / 2 % node_size; }
};

/// Whom a rank sends a part to, as how many children and parents.
struct NcclDegree {
  int parents = 0, children = 0;
};
/// Of a rank in the trees of one part; without chains a node has one rank in them.
NcclDegree nccl_degree_of(const Placement& place, int part, bool chains);

/// Adds what flows in the trees of all parts of x, and the way of the chunk that goes farthest.
void add_nccl_trees(const RanksByNode& nodes, NcclParts parts, Buffer x, bool chains, const HopSeconds& hop,
                    Pipeline& to);

}  // namespace trigram
