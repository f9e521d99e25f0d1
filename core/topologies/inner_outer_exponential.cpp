// Inner-outer exponential: every vertex sends one message a step. One of each node, in turn, sends to that of the node
// 2^(t mod h) further, h = ⌈log₂ nodes⌉; the others send to who is 2^(t mod ⌈log₂ s⌉) further among these s, and each
// weighs itself and what it gets ½. W = ½ I + ½ P, P a permutation: doubly stochastic for nodes of any sizes. One
// message leaves a node a step. Where each vertex is a node, or all are in one, it is one_peer_exponential.
// As BlueFog benchmarks neighbor_allreduce (Ying et al., BlueFog: make decentralized algorithms practical for
// optimization and deep learning, 2021, arXiv:2111.04287; GetInnerOuterExpo2DynamicSendRecvRanks of its
// topology_util.py).
#include <algorithm>
#include <bit>
#include <numeric>

#include "core/topology.hpp"

namespace trigram {

namespace {

class InnerOuterExponential final : public Topology {
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
    for (std::size_t node = 0; nodes_.size() > 1 && node < nodes_.size(); ++node) {
      require(nodes_[node].size() != 2,
              "inner_outer_exponential needs nodes of 1 vertex, or of 3 and more: of the 2 of "
              "node ",
              node, " one is outside and the other has nobody to mix with; take one_outside");
    }
  }
  int size() const override { return static_cast<int>(node_of_.size()); }

  Row row(int vertex, std::int64_t step) const override {
    Row weights;
    weights[vertex] += 0.5;
    weights[peer(vertex, step, -1)] += 0.5;
    return weights;
  }
  std::vector<int> sends_to(int vertex, std::int64_t step) const override {
    const int to = peer(vertex, step, 1);
    return to == vertex ? std::vector<int>{} : std::vector<int>{to};
  }

  bool directed() const override {
    return nodes_.size() > 2 || std::ranges::any_of(nodes_, [&](const auto& inside) { return staying(inside) > 2; });
  }
  std::int64_t period() const override {
    std::int64_t steps = std::max(1, hops(static_cast<int>(nodes_.size())));
    for (const std::vector<int>& inside : nodes_) {
      if (nodes_.size() > 1) steps = std::lcm(steps, std::ssize(inside));
      steps = std::lcm(steps, static_cast<std::int64_t>(std::max(1, hops(staying(inside)))));
    }
    return steps;
  }

 private:
  const std::vector<int>& node(int index) const {
    const int count = static_cast<int>(nodes_.size());
    return nodes_[static_cast<std::size_t>((index + count) % count)];
  }
  static int hops(int count) {
    return count > 1 ? static_cast<int>(std::bit_width(static_cast<unsigned>(count - 1))) : 0;
  }
  static int distance(int count, std::int64_t step) { return count > 1 ? 1 << (step % hops(count)) : 0; }
  int staying(const std::vector<int>& inside) const {
    return static_cast<int>(inside.size()) - (nodes_.size() > 1 ? 1 : 0);
  }

  /// Whom this vertex sends to, or with `way` −1 hears from; itself where there is nobody.
  int peer(int vertex, std::int64_t step, int way) const {
    const int own = node_of_[static_cast<std::size_t>(vertex)];
    const std::vector<int>& inside = node(own);
    const int outside = delegate(inside, step);
    if (inside[static_cast<std::size_t>(outside)] == vertex && nodes_.size() > 1) {
      const std::vector<int>& other = node(own + way * distance(static_cast<int>(nodes_.size()), step));
      return other[static_cast<std::size_t>(delegate(other, step))];
    }
    return among_staying(inside, vertex, outside, way * distance(staying(inside), step));
  }
  /// The place in its node of who goes out of it.
  static int delegate(const std::vector<int>& inside, std::int64_t step) {
    return static_cast<int>(step % std::ssize(inside));
  }
  /// Who is so far from that vertex around those of its node that stay.
  int among_staying(const std::vector<int>& inside, int vertex, int outside, int offset) const {
    const int left_out = nodes_.size() > 1 ? outside : static_cast<int>(inside.size());
    const int count = staying(inside);
    const int place = static_cast<int>(std::ranges::find(inside, vertex) - inside.begin());
    const int among = (place - (place > left_out ? 1 : 0) + offset + count) % count;
    return inside[static_cast<std::size_t>(among + (among >= left_out ? 1 : 0))];
  }

  std::vector<int> node_of_ = {0};
  std::vector<std::vector<int>> nodes_ = {{0}};  ///< their vertices
};

const Topologies::Registration registration(
    "inner_outer_exponential",
    {"directed, one peer each: one of each node in turn to nodes 1, 2, 4, ... away, the others inside theirs",
     "Ying et al., BlueFog, 2021, arXiv:2111.04287"},
    [](Params&) { return std::make_unique<InnerOuterExponential>(); });

}  // namespace

}  // namespace trigram
