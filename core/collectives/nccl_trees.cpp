#include "core/collectives/nccl_trees.hpp"

#include <algorithm>

#include "core/collectives/two_trees.hpp"

namespace trigram {
namespace {

/// The streams of both trees over nodes, each its own as in NCCL, and of the chains inside nodes.
class TreeStreams {
 public:
  TreeStreams(const RanksByNode& nodes, NcclParts parts, Buffer x, bool chains) : nodes_(nodes) {
    for (int part = 0; part < parts.count(); ++part) bytes_.push_back(x.chunk(part, parts.count()).modelled_bytes());
    const int number = static_cast<int>(nodes.size());
    for (int node = 0; node < number; ++node) {
      if (chains) add_chains(nodes[static_cast<std::size_t>(node)]);
      for (int part = 0; number > 1 && part < parts.count(); ++part) {
        for (const int child : branch_of(node, number, NcclParts::tree(part)).children)
          add_both_ways(head(node, part), head(child, part), bytes_[static_cast<std::size_t>(part)], 1);
      }
    }
  }

  const std::vector<Pipeline::Stream>& all() const { return streams_; }

 private:
  int head(int node, int part) const {
    const std::vector<int>& ranks = nodes_[static_cast<std::size_t>(node)];
    return ranks[static_cast<std::size_t>(NcclParts::head(part, static_cast<int>(ranks.size())))];
  }
  void add_both_ways(int a, int b, std::int64_t bytes, int messages) {
    streams_.push_back({a, b, bytes, messages});
    streams_.push_back({b, a, bytes, messages});
  }
  /// From each rank to the next of its node go all parts but those whose chain begins there.
  void add_chains(const std::vector<int>& ranks) {
    const int n = static_cast<int>(ranks.size());
    for (int place = 0; place < n && n > 1; ++place) {
      const int next = (place + 1) % n;
      std::int64_t sum = 0;
      int messages = 0;
      for (int part = 0; part < static_cast<int>(bytes_.size()); ++part) {
        if (NcclParts::head(part, n) == next) continue;
        sum += bytes_[static_cast<std::size_t>(part)];
        ++messages;
      }
      if (messages == 0) continue;
      add_both_ways(ranks[static_cast<std::size_t>(place)], ranks[static_cast<std::size_t>(next)], sum, messages);
    }
  }

  const RanksByNode& nodes_;
  std::vector<std::int64_t> bytes_;  ///< by part
  std::vector<Pipeline::Stream> streams_;
};

/// The node with most neighbours in both trees, whose links carry most.
int busiest_of(int nodes) {
  std::size_t most = 0;
  int busiest = 0;
  for (int node = 0; node < nodes; ++node) {
    std::size_t neighbours = 0;
    for (const int tree : {0, 1}) {
      const Branch branch = branch_of(node, nodes, tree);
      neighbours += branch.children.size() + (branch.parent < 0 ? 0 : 1);
    }
    if (neighbours > most) busiest = node;
    most = std::max(most, neighbours);
  }
  return busiest;
}

/// From the first of a node's chain to its end, or to the end of the longest one below it.
double farthest(const RanksByNode& nodes, int node, int tree, const HopSeconds& hop, bool chains) {
  const std::vector<int>& ranks = nodes[static_cast<std::size_t>(node)];
  double chain = 0, below = 0;
  for (std::size_t i = 1; chains && i < ranks.size(); ++i) chain += hop(ranks[i - 1], ranks[i]);
  if (nodes.size() > 1) {
    for (const int child : branch_of(node, static_cast<int>(nodes.size()), tree).children) {
      const int head = nodes[static_cast<std::size_t>(child)].front();
      below = std::max(below, hop(ranks.front(), head) + farthest(nodes, child, tree, hop, chains));
    }
  }
  return std::max(chain, below);
}

}  // namespace

NcclDegree nccl_degree_of(const Placement& place, int part, bool chains) {
  NcclDegree degree;
  const int depth = (place.local_rank - NcclParts::head(part, place.node_size) + place.node_size) % place.node_size;
  if (chains) degree = {depth > 0 ? 1 : 0, depth + 1 < place.node_size ? 1 : 0};
  if (depth > 0 || place.nodes == 1) return degree;
  const Branch branch = branch_of(place.node, place.nodes, NcclParts::tree(part));
  degree.parents += branch.parent < 0 ? 0 : 1;
  degree.children += static_cast<int>(branch.children.size());
  return degree;
}

void add_nccl_trees(const RanksByNode& nodes, NcclParts parts, Buffer x, bool chains, const HopSeconds& hop,
                    Pipeline& to) {
  const int number = static_cast<int>(nodes.size());
  const TreeStreams streams(nodes, parts, x, chains);
  to.streams.insert(to.streams.end(), streams.all().begin(), streams.all().end());
  const HopSeconds back = [&](int a, int b) { return hop(b, a); };
  double longest = 0;
  for (const int tree : {0, 1}) {
    const int root = number == 1 ? 0 : root_of(number, tree);
    longest = std::max(longest, farthest(nodes, root, tree, hop, chains) + farthest(nodes, root, tree, back, chains));
  }
  to.latency += longest;
  to.busiest = busiest_of(number);
}

}  // namespace trigram
