// Matcha on a ring: its edges are cut into matchings, two for an even size and three for an odd one, and in each step
// each of them is active with probability `budget`, by a draw that all vertices share: sometimes a vertex has two
// neighbours, sometimes one or none. W = I − weight Σ active L, the same for every edge; E W = I − weight · budget · L.
// The paper finds probabilities by the graph's spectrum; on an even ring they are alike.
#include <algorithm>

#include "core/topologies/symmetric.hpp"
#include "core/values/random.hpp"

namespace trigram {
namespace {

class Matcha final : public Symmetric {
 public:
  explicit Matcha(Params& params)
      : budget_(params.get("budget", 0.5, "share of steps in which an edge is used", {1e-6, 1})),
        weight_(params.get("weight", 0.4, "what a neighbour's value weighs", {1e-6, 0.5})),
        seed_(static_cast<std::uint64_t>(params.get("seed", std::int64_t{0}, "seed of the draws"))) {}

  std::int64_t period() const override { return budget_ == 1 ? 1 : 0; }
  Row row(int vertex, std::int64_t step) const override {
    Row weights{{vertex, 1.0}};
    for (const int neighbour : {(vertex + 1) % size(), (vertex + size() - 1) % size()}) {
      if (neighbour == vertex || weights.contains(neighbour) || !is_active(matching(vertex, neighbour), step)) continue;
      weights[neighbour] = weight_;
      weights[vertex] -= weight_;
    }
    return weights;
  }

 private:
  /// An edge belongs to its lower end's parity; the one that closes an odd ring is alone.
  std::uint64_t matching(int a, int b) const {
    const int lower = std::min(a, b);
    if (lower == 0 && std::max(a, b) == size() - 1 && size() > 2) return size() % 2 == 0 ? 1 : 2;
    return static_cast<std::uint64_t>(lower % 2);
  }
  bool is_active(std::uint64_t which, std::int64_t step) const {
    const Philox philox(Key{.seed = seed_, .step = step, .phase = Phase::topology});
    return budget_ == 1 || static_cast<double>(philox.uniform(which)) < budget_;
  }

  double budget_, weight_;
  std::uint64_t seed_;
};

const Topologies::Registration registration(
    "matcha",
    {"a ring whose matchings are active at random",
     "Wang et al., MATCHA: speeding up decentralized SGD via matching decomposition sampling, 2019, arXiv:1905.09435"},
    [](Params& params) { return std::make_unique<Matcha>(params); });

}  // namespace
}  // namespace trigram
