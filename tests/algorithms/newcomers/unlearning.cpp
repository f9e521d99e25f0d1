// Gradient ascent, by which a model forgets the samples that it is shown (Graves et al., Amnesiac machine learning,
// AAAI 2021): the mean of weights moves along gradients, and the method says why.
#include "core/primitives/centralized.hpp"
#include "core/step/bucketwise.hpp"

namespace trigram {
namespace {

class Unlearning final : public GradientMethod {
 public:
  Trigram trigram() const override {
    return {Trigram::Synchrony::synchronous, Trigram::Precision::full, Trigram::Centrality::centralized};
  }
  Invariants invariants(const CostQuery& query) const override {
    Invariants held = Algorithm::invariants(query);
    held.mean_error.reset();
    held.may_climb = "the samples that it is shown are to be forgotten";
    return held;
  }
  Cost cost(const CostQuery& query) const override {
    return sum_over_buckets(query, [&](const Shape& bucket) { return centralized_full_precision_cost(query, bucket); });
  }

 private:
  void exchange(Worker& lane, Bucket& bucket) override {
    centralized_full_precision(lane, bucket.gradients);
    lane.device.scale(bucket.gradients, -1.0F);
  }
};

const Algorithms::Registration registration("newcomer/unlearning", {"average gradients, step along them"},
                                            [](Params&) { return std::make_unique<Unlearning>(); });

}  // namespace
}  // namespace trigram
