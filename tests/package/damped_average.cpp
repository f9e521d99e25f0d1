// An algorithm outside Trigram's tree: average gradients, then shorten the step.
#include "core/bucketwise.hpp"
#include "core/primitives/centralized.hpp"

namespace {

using namespace trigram;

class DampedAverage final : public GradientMethod {
 public:
  explicit DampedAverage(Params& params)
      : damping_(static_cast<float>(params.get("damping", 1.0, "what the mean gradient is multiplied by"))) {}

  Trigram trigram() const override {
    return {Trigram::Synchrony::synchronous, Trigram::Precision::full, Trigram::Centrality::centralized};
  }

  Cost cost(const CostQuery& query) const override {
    return sum_over_buckets(query, [&](const Shape& bucket) { return centralized_full_precision_cost(query, bucket); });
  }
  /// The mean of weights follows the mean gradient where nothing is damped.
  Invariants invariants(const CostQuery& query) const override {
    Invariants held = Algorithm::invariants(query);
    if (damping_ != 1.0F) held.mean_error.reset();
    return held;
  }
  std::vector<std::string> trials() const override { return {"", "damping=0.5"}; }

 private:
  void exchange(Worker& lane, Bucket& bucket) override {
    centralized_full_precision(lane, bucket.gradients);
    lane.device.scale(bucket.gradients, damping_);
  }

  float damping_;
};

const Algorithms::Registration registration("damped_average", {"average gradients, then shorten the step"},
                                            [](Params& params) { return std::make_unique<DampedAverage>(params); });

}  // namespace
