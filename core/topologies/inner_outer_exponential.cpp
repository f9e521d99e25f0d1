// Inner-outer exponential: every vertex sends one message a step. One of each node, in turn, sends to that of the node
// 2^(t mod h) further, h = ⌈log₂ nodes⌉; the others send to who is 2^(t mod ⌈log₂ s⌉) further among these s, and each
// weighs itself and what it gets ½. W = ½ I + ½ P, P a permutation: doubly stochastic for nodes of any sizes. One
// message leaves a node a step. Where each vertex is a node, or all are in one, it is one_peer_exponential.
// As BlueFog benchmarks neighbor_allreduce (Ying et al., BlueFog: make decentralized algorithms practical for
// optimization and deep learning, 2021, arXiv:2111.04287; GetInnerOuterExpo2DynamicSendRecvRanks of its
// topology_util.py).
#include <algorithm>
#include <numeric>

#include "core/topologies/topology.hpp"
#include "core/topologies/vertices_by_node.hpp"
#include "core/values/error.hpp"

namespace trigram {

namespace {

class InnerOuterExponential final : public Topology {
 public:
  void resize(const Vertices& vertices) override {
    by_node_.resize(vertices);
    for (int node = 0; by_node_.nodes() > 1 && node < by_node_.nodes(); ++node) {
      require(by_node_.of(node).size() != 2,
              "inner_outer_exponential needs nodes of 1 vertex, or of 3 and more: of the 2 of "
              "node ",
              node, " one is outside and the other has nobody to mix with; take one_outside");
    }
  }
  int size() const override { return by_node_.vertices(); }

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
    return by_node_.nodes() > 2 ||
           std::ranges::any_of(by_node_.all(), [&](const auto& inside) { return staying(inside) > 2; });
  }
  std::int64_t period() const override {
    std::int64_t steps = std::max(1, VerticesByNode::hops(by_node_.nodes()));
    for (const std::vector<int>& inside : by_node_.all()) {
      if (by_node_.nodes() > 1) steps = std::lcm(steps, std::ssize(inside));
      steps = std::lcm(steps, static_cast<std::int64_t>(std::max(1, VerticesByNode::hops(staying(inside)))));
    }
    return steps;
  }

 private:
  int staying(const std::vector<int>& inside) const {
    return static_cast<int>(inside.size()) - (by_node_.nodes() > 1 ? 1 : 0);
  }

  /// Whom this vertex sends to, or with `way` −1 hears from; itself where there is nobody.
  int peer(int vertex, std::int64_t step, int way) const {
    const int own = by_node_.node_of(vertex);
    if (by_node_.nodes() > 1 && by_node_.outside(own, step) == vertex) {
      return by_node_.outside(own + way * VerticesByNode::distance(by_node_.nodes(), step), step);
    }
    std::vector<int> stay = by_node_.of(own);
    if (by_node_.nodes() > 1) std::erase(stay, by_node_.outside(own, step));
    const int count = static_cast<int>(stay.size());
    const int place = static_cast<int>(std::ranges::find(stay, vertex) - stay.begin());
    return stay[static_cast<std::size_t>((place + way * VerticesByNode::distance(count, step) + count) % count)];
  }

  VerticesByNode by_node_;
};

const Topologies::Registration registration(
    "inner_outer_exponential",
    {"directed, one peer each: one of each node in turn to nodes 1, 2, 4, ... away, the others inside theirs",
     "Ying et al., BlueFog, 2021, arXiv:2111.04287"},
    [](Params&) { return std::make_unique<InnerOuterExponential>(); });

}  // namespace

}  // namespace trigram
