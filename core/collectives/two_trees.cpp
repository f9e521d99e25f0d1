#include "core/collectives/two_trees.hpp"

namespace trigram {
namespace {

/// Place p hangs below p without its lowest bit b, or with that bit moved up where there is such a place; its children
/// are p − b/2 and p + b/2, or as much less as there are places. Place 0 is above the greatest power of two.
int parent_in_tree(int place, int n) {
  const int bit = place & -place;
  const int upper = (place ^ bit) | (bit << 1);
  return upper < n ? upper : place ^ bit;
}

/// The second tree has the places of the first in reverse order, or one further where their number is odd.
int moved(int place, int n, int tree) {
  if (tree == 0) return place;
  return n % 2 == 0 ? n - 1 - place : (place + 1) % n;
}
int moved_back(int rank, int n, int tree) {
  if (tree == 0) return rank;
  return n % 2 == 0 ? n - 1 - rank : (rank + n - 1) % n;
}

std::vector<int> children_in_tree(int place, int n) {
  std::vector<int> children;
  const auto add = [&](int child) {
    if (child < n && child > 0 && parent_in_tree(child, n) == place) children.push_back(child);
  };
  int reach = 1;
  if (place == 0) {
    while (reach < n) reach *= 2;
  } else {
    reach = place & -place;
  }
  if (place > 0 && reach > 1) add(place - reach / 2);
  for (int step = reach / 2; step >= 1; step /= 2) {
    const std::size_t before = children.size();
    add(place + step);
    if (children.size() > before) break;
  }
  return children;
}

}  // namespace

Branch branch_of(int rank, int n, int tree) {
  const int place = moved_back(rank, n, tree);
  Branch branch;
  if (place != 0) branch.parent = moved(parent_in_tree(place, n), n, tree);
  for (const int child : children_in_tree(place, n)) branch.children.push_back(moved(child, n, tree));
  return branch;
}

int root_of(int n, int tree) { return moved(0, n, tree); }

}  // namespace trigram
