// D-PSGD that mixes twice in each step: its distance shrinks by the square of what one exchange gives.
#include "core/primitives/decentralized.hpp"
#include "core/step/bucketwise.hpp"

namespace trigram {
namespace {

class DoubleGossip final : public WeightMethod {
 public:
  Trigram trigram() const override {
    return {Trigram::Synchrony::synchronous, Trigram::Precision::full, Trigram::Centrality::decentralized};
  }
  Invariants invariants(const CostQuery& query) const override {
    Invariants held = Algorithm::invariants(query);
    const double once = contraction_of(*ring(vertices(query))).value();
    held.contraction = once * once;
    return held;
  }
  Cost cost(const CostQuery& query) const override {
    return sum_over_buckets(query, [&](const Shape& bucket) {
      const auto topology = ring(vertices(query));
      return decentralized_full_precision_cost(query, *topology, 0, bucket) +
             decentralized_full_precision_cost(query, *topology, 1, bucket);
    });
  }

 private:
  static std::unique_ptr<Topology> ring(const Vertices& all) { return make_topology("ring", all); }
  bool communicates(std::int64_t) const override { return true; }
  void exchange(Worker& lane, Bucket& bucket) override {
    for (const std::int64_t round : {0, 1}) {
      decentralized_full_precision(lane, *ring(vertices(lane)), round, bucket.weights);
    }
  }
};

const Algorithms::Registration registration("newcomer/double_gossip", {"mix weights with neighbours, twice"},
                                            [](Params&) { return std::make_unique<DoubleGossip>(); });

}  // namespace
}  // namespace trigram
