// One outside: in each step one vertex of every node, in turn, exchanges with nodes 1, 2, 4, … away while all of a node
// mix. W = ½ P + ½ B: B averages every node; P sends the delegate of node k to that of node k + 2^(t mod h), h =
// ⌈log₂ nodes⌉, and averages those of a node that stay. Both are doubly stochastic for nodes of any sizes, so W is. A
// node sends one message to another node in each step, however many vertices it has. Where each vertex is a node it is
// one_peer_exponential, of Ying et al., NeurIPS 2021, arXiv:2110.13363; where all are in one node, W = J.
#include <algorithm>
#include <numeric>

#include "core/topologies/topology.hpp"
#include "core/topologies/vertices_by_node.hpp"

namespace trigram {

namespace {

class OneOutside final : public Topology {
 public:
  void resize(const Vertices& vertices) override { by_node_.resize(vertices); }
  int size() const override { return by_node_.vertices(); }

  Row row(int vertex, std::int64_t step) const override {
    const int node = by_node_.node_of(vertex);
    const std::vector<int>& inside = by_node_.of(node);
    Row weights;
    for (const int other : inside) weights[other] += 0.5 / static_cast<double>(inside.size());
    if (is_outside(vertex, step)) {
      weights[by_node_.outside(node - distance(step), step)] += 0.5;
      return weights;
    }
    const std::size_t outside = by_node_.nodes() > 1 ? 1 : 0;
    for (const int other : inside) {
      if (!is_outside(other, step)) weights[other] += 0.5 / static_cast<double>(inside.size() - outside);
    }
    return weights;
  }

  std::vector<int> sends_to(int vertex, std::int64_t step) const override {
    const int node = by_node_.node_of(vertex);
    std::vector<int> peers = by_node_.of(node);
    std::erase(peers, vertex);
    if (is_outside(vertex, step)) peers.push_back(by_node_.outside(node + distance(step), step));
    std::sort(peers.begin(), peers.end());
    return peers;
  }

  bool directed() const override { return by_node_.nodes() > 2; }
  std::int64_t period() const override {
    if (by_node_.nodes() == 1) return 1;
    std::int64_t steps = VerticesByNode::hops(by_node_.nodes());
    for (const std::vector<int>& inside : by_node_.all()) steps = std::lcm(steps, std::ssize(inside));
    return steps;
  }

 private:
  int distance(std::int64_t step) const { return VerticesByNode::distance(by_node_.nodes(), step); }
  bool is_outside(int vertex, std::int64_t step) const {
    return by_node_.nodes() > 1 && by_node_.outside(by_node_.node_of(vertex), step) == vertex;
  }

  VerticesByNode by_node_;
};

const Topologies::Registration registration("one_outside",
                                            {"all within a node, one of each in turn with nodes 1, 2, 4, ... away",
                                             "Ying et al., Exponential graph is provably efficient for decentralized "
                                             "deep training, NeurIPS 2021, arXiv:2110.13363"},
                                            [](Params&) { return std::make_unique<OneOutside>(); });

}  // namespace

}  // namespace trigram
