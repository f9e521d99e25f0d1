// Where ranks stand in two binary trees over all of them: who has children in one is a leaf in the other.
#pragma once

#include <vector>

namespace trigram {

/// A rank's place in a tree.
struct Branch {
  int parent = -1;  ///< none: the root
  std::vector<int> children;
};

/// Of `rank` among n, in tree 0 or 1 (Sanders, Speck & Traeff, "Two-tree algorithms for full bandwidth broadcast,
/// reduction and scan", 2009).
Branch branch_of(int rank, int n, int tree);
int root_of(int n, int tree);

}  // namespace trigram
