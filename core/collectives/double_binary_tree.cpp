// Two binary trees, each with half of the vector: who has children in one is a leaf in the other, so that all links
// carry alike. Half vectors go up, are added, and come down.
#include <algorithm>
#include <array>

#include "core/collectives/reduction.hpp"
#include "core/collectives/two_trees.hpp"
#include "core/lane/all_reduce.hpp"

namespace trigram {

namespace {

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
      const int root = root_of(n, tree);
      all.latency = std::max(all.latency, farthest(root, n, tree, [&](int a, int b) { return where.hop(b, a); }) +
                                              farthest(root, n, tree, where.hop));
    }
    return all;
  }

  std::vector<Buffer> reduce_in_memory(const Neighbourhood&, std::span<const Buffer> of_ranks,
                                       const Add& add) const override {
    const int n = static_cast<int>(of_ranks.size());
    std::vector<Buffer> halves;
    for (int tree = 0; tree < 2; ++tree) {
      const int root = root_of(n, tree);
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
