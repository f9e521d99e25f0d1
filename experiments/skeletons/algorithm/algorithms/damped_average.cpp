// Damped average: every bucket's gradient becomes the mean over all ranks, times `damping`.
//   rounds 2(n−1), bytes 2 S (n−1)/n per rank with the ring.
// Change: what the method does, its paper, rounds and bytes above; then each place that says so below.
#include "core/primitives/centralized.hpp"
#include "core/step/bucketwise.hpp"

namespace trigram {
namespace {

// Change: GradientMethod exchanges gradients before the update, WeightMethod weights after it.
class DampedAverage final : public GradientMethod {
 public:
  // Change: every parameter is read here, with its default, what it means and what it may be.
  explicit DampedAverage(Params& params)
      : damping_(static_cast<float>(params.get("damping", 1.0, "what the mean gradient is multiplied by", {0, 1}))) {}

  // Change: which of the three relaxations the method takes.
  Trigram trigram() const override {
    return {Trigram::Synchrony::synchronous, Trigram::Precision::full, Trigram::Centrality::centralized};
  }

  // Change: rounds and bytes of one rank in query.step; they are compared with what it sends. In the comment above: n
  // ranks, S bytes of a bucket, encoded(k) bytes of a codec's frame of k elements, as encoded(S/4n).
  Cost cost(const CostQuery& query) const override {
    return sum_over_buckets(query, [&](const Shape& bucket) { return centralized_full_precision_cost(query, bucket); });
  }

  // Change: what the trigram promises and the method does not hold; without such, leave this out.
  Invariants invariants(const CostQuery& query) const override {
    Invariants held = Algorithm::invariants(query);
    if (damping_ != 1) held.mean_error.reset();
    return held;
  }

  // Change: parameter sets to test, which together change every parameter from its default.
  std::vector<std::string> trials() const override { return {"", "damping=0.5"}; }

 private:
  // Change: what ranks do with one bucket, on its lane.
  void exchange(Worker& lane, Bucket& bucket) override {
    centralized_full_precision(lane, bucket.gradients);
    lane.device.scale(bucket.gradients, damping_);
  }

  float damping_;
};

// Change: what `trigram list` says, and the paper as a second text: "Authors, Title, place and year, arXiv:number".
const Algorithms::Registration registration("damped_average", {"average gradients, then shorten the step"},
                                            [](Params& params) { return std::make_unique<DampedAverage>(params); });

}  // namespace
}  // namespace trigram
