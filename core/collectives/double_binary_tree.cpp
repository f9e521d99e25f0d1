// Two binary trees, each with half of the vector: who has children in one is a leaf in the other, so that all links
// carry alike. Half vectors go up, are added, and come down.
#include <algorithm>
#include <array>

#include "core/all_reduce.hpp"
#include "core/collectives/reduction.hpp"

namespace trigram {

namespace {

/// A rank's place in a tree.
struct Branch {
  int parent = -1;  ///< none: the root
  std::vector<int> children;
};

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

Branch branch_of(int rank, int n, int tree) {
  const int place = moved_back(rank, n, tree);
  Branch branch;
  if (place != 0) branch.parent = moved(parent_in_tree(place, n), n, tree);
  for (const int child : children_in_tree(place, n)) branch.children.push_back(moved(child, n, tree));
  return branch;
}

/// Of both trees: what a rank does on the way up, and on the way down.
using Branches = std::array<Branch, 2>;
Branches branches_of(int rank, int n) { return {branch_of(rank, n, 0), branch_of(rank, n, 1)}; }

void up(Communicator& comm, const Branch& branch, Buffer half, Buffer memory, ReduceOp op) {
  std::vector<Transfer> from_children;
  for (std::size_t i = 0; i < branch.children.size(); ++i) {
    const auto place = static_cast<std::int64_t>(i);
    from_children.push_back(Transfer::receive_from(
        branch.children[i], memory.slice(place * half.count(), half.count(), half.modelled_count())));
  }
  if (!from_children.empty()) comm.exchange(from_children);
  for (const Transfer& transfer : from_children) combine(comm, op, transfer.buffer, half);
  if (branch.parent >= 0) return comm.exchange({Transfer::send_to(branch.parent, half)});
  finish_mean(comm, op, half);
}

void down(Communicator& comm, const Branch& branch, Buffer half) {
  if (branch.parent >= 0) comm.exchange({Transfer::receive_from(branch.parent, half)});
  std::vector<Transfer> to_children;
  for (const int child : branch.children) to_children.push_back(Transfer::send_to(child, half));
  if (!to_children.empty()) comm.exchange(to_children);
}

class DoubleBinaryTree final : public AllReduce {
 public:
  void run(Communicator& comm, Buffer x, ReduceOp op) const override {
    if (comm.size() == 1) return;
    const Branches branches = branches_of(comm.rank(), comm.size());
    Shape two_halves = x.shape();
    two_halves.count = 2 * chunk_count(x.count(), 2, 0);
    two_halves.modelled_count = 2 * chunk_count(x.modelled_count(), 2, 0);
    const Buffer memory = comm.scratch(two_halves);
    for (int tree = 0; tree < 2; ++tree)
      up(comm, branches[static_cast<std::size_t>(tree)], x.chunk(tree, 2), memory, op);
    for (int tree = 0; tree < 2; ++tree) down(comm, branches[static_cast<std::size_t>(tree)], x.chunk(tree, 2));
  }

  // Up and down, a round with the parent and one with all children; the half goes to the parent and to each child.
  Cost cost(int ranks, int rank, std::int64_t count, std::int64_t element_bytes) const override {
    Cost cost;
    if (ranks == 1) return cost;
    for (int tree = 0; tree < 2; ++tree) {
      const Branch branch = branch_of(rank, ranks, tree);
      const std::int64_t parents = branch.parent < 0 ? 0 : 1, children = std::ssize(branch.children);
      cost.rounds += 2 * (parents + (children > 0 ? 1 : 0));
      cost.bytes += (parents + children) * chunk_count(count, 2, tree) * element_bytes;
    }
    return cost;
  }

  bool pipelined() const override { return true; }

  Pipeline pipeline(const Neighbourhood& where, Buffer x) const override {
    const int n = static_cast<int>(where.node_of.size());
    Pipeline all;
    for (int rank = 0; rank < n; ++rank) {
      for (int tree = 0; tree < 2; ++tree) {
        const Branch branch = branch_of(rank, n, tree);
        const std::int64_t half = x.chunk(tree, 2).modelled_bytes();
        if (branch.parent >= 0) all.streams.push_back({rank, branch.parent, half});
        for (const int child : branch.children) all.streams.push_back({rank, child, half});
      }
    }
    for (int tree = 0; tree < 2; ++tree) {
      const int root = moved(0, n, tree);
      all.latency = std::max(all.latency, farthest(root, n, tree, [&](int a, int b) { return where.hop(b, a); }) +
                                              farthest(root, n, tree, where.hop));
    }
    return all;
  }

  std::vector<Buffer> reduce_in_memory(std::span<const Buffer> of_ranks, const Add& add) const override {
    const int n = static_cast<int>(of_ranks.size());
    std::vector<Buffer> halves;
    for (int tree = 0; tree < 2; ++tree) {
      const int root = moved(0, n, tree);
      gather_up(root, n, tree, of_ranks, add);
      halves.push_back(of_ranks[static_cast<std::size_t>(root)].chunk(tree, 2));
    }
    return halves;
  }

 private:
  /// The longest way from `rank` down to a leaf.
  static double farthest(int rank, int n, int tree, const std::function<double(int, int)>& hop) {
    double most = 0;
    for (const int child : branch_of(rank, n, tree).children)
      most = std::max(most, hop(rank, child) + farthest(child, n, tree, hop));
    return most;
  }

  static void gather_up(int rank, int n, int tree, std::span<const Buffer> of_ranks, const Add& add) {
    const Branch branch = branch_of(rank, n, tree);
    for (const int child : branch.children) gather_up(child, n, tree, of_ranks, add);
    for (const int child : branch.children)
      add(of_ranks[static_cast<std::size_t>(child)].chunk(tree, 2),
          of_ranks[static_cast<std::size_t>(rank)].chunk(tree, 2));
  }
};

const AllReduces::Registration double_binary_tree(
    "double_binary_tree",
    {"two binary trees with half of the vector each, up and down: 2 ceil(log2(n)) latencies, twice the vector's bytes",
     "Sanders, Speck & Traeff, Two-tree algorithms for full bandwidth broadcast, reduction and scan, Parallel "
     "Computing 2009"},
    [](Params&) { return std::make_unique<DoubleBinaryTree>(); });

}  // namespace

}  // namespace trigram
