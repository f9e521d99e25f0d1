// One outside: in each step one vertex of every node, in turn, exchanges with nodes 1, 2, 4, … away while all of a node
// mix. W = ½ P + ½ B: B averages every node; P sends the delegate of node k to that of node k + 2^(t mod h), h =
// ⌈log₂ nodes⌉, and averages those of a node that stay. Both are doubly stochastic for nodes of any sizes, so W is. A
// node sends one message to another node in each step, however many vertices it has. Where each vertex is a node it is
// one_peer_exponential, of Ying et al., NeurIPS 2021, arXiv:2110.13363; where all are in one node, W = J.
#include <algorithm>
#include <bit>
#include <numeric>

#include "core/topology.hpp"

namespace trigram {

namespace {

class OneOutside final : public Topology {
 public:
  void resize(const Vertices& vertices) override {
    require(vertices.count >= 1, "a topology has at least one vertex, not " + std::to_string(vertices.count));
    node_of_.clear();
    nodes_.clear();
    for (int vertex = 0; vertex < vertices.count; ++vertex) {
      const auto node = static_cast<std::size_t>(node_of_.emplace_back(vertices.node(vertex)));
      nodes_.resize(std::max(nodes_.size(), node + 1));
      nodes_[node].push_back(vertex);
    }
  }
  int size() const override { return static_cast<int>(node_of_.size()); }

  Row row(int vertex, std::int64_t step) const override {
    const int node = node_of(vertex);
    const std::vector<int>& inside = nodes_[static_cast<std::size_t>(node)];
    Row weights;
    for (const int other : inside) weights[other] += 0.5 / static_cast<double>(inside.size());
    if (is_outside(vertex, step)) {
      weights[delegate(node - distance(step), step)] += 0.5;
      return weights;
    }
    const std::size_t outside = nodes_.size() > 1 ? 1 : 0;
    for (const int other : inside) {
      if (!is_outside(other, step)) weights[other] += 0.5 / static_cast<double>(inside.size() - outside);
    }
    return weights;
  }

  std::vector<int> sends_to(int vertex, std::int64_t step) const override {
    std::vector<int> peers = nodes_[static_cast<std::size_t>(node_of(vertex))];
    std::erase(peers, vertex);
    if (is_outside(vertex, step)) peers.push_back(delegate(node_of(vertex) + distance(step), step));
    std::sort(peers.begin(), peers.end());
    return peers;
  }

  bool directed() const override { return nodes_.size() > 2; }
  std::int64_t period() const override {
    if (nodes_.size() == 1) return 1;
    auto steps = static_cast<std::int64_t>(hops());
    for (const std::vector<int>& inside : nodes_) steps = std::lcm(steps, static_cast<std::int64_t>(inside.size()));
    return steps;
  }

 private:
  int node_of(int vertex) const { return node_of_[static_cast<std::size_t>(vertex)]; }
  int hops() const { return static_cast<int>(std::bit_width(nodes_.size() - 1)); }  // ⌈log₂ nodes⌉
  int distance(std::int64_t step) const { return 1 << (step % hops()); }

  /// Who goes out of that node, counted around.
  int delegate(int node, std::int64_t step) const {
    const int count = static_cast<int>(nodes_.size());
    const std::vector<int>& inside = nodes_[static_cast<std::size_t>((node + count) % count)];
    return inside[static_cast<std::size_t>(step) % inside.size()];
  }
  bool is_outside(int vertex, std::int64_t step) const {
    return nodes_.size() > 1 && delegate(node_of(vertex), step) == vertex;
  }

  std::vector<int> node_of_ = {0};
  std::vector<std::vector<int>> nodes_ = {{0}};  ///< their vertices
};

const Topologies::Registration registration("one_outside",
                                            {"all within a node, one of each in turn with nodes 1, 2, 4, ... away",
                                             "Ying et al., Exponential graph is provably efficient for decentralized "
                                             "deep training, NeurIPS 2021, arXiv:2110.13363"},
                                            [](Params&) { return std::make_unique<OneOutside>(); });

}  // namespace

}  // namespace trigram
