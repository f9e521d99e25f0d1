// DiLoCo (Douillard et al., arXiv:2311.08105) with plain inner steps: every few steps ranks average how far they went,
// and momentum moves the weights that they began with.
//   d = x_begin − mean x, m ← μ m + d, x ← x_begin − m
#include "core/bucketwise.hpp"
#include "core/primitives/centralized.hpp"

namespace trigram {
namespace {

class OuterMomentum final : public WeightMethod {
 public:
  explicit OuterMomentum(Params& params)
      : every_(read_every(params, 10)),
        momentum_(static_cast<float>(params.get("momentum", 0.9, "of the outer steps"))) {}

  Trigram trigram() const override {
    return {Trigram::Synchrony::synchronous, Trigram::Precision::full, Trigram::Centrality::centralized};
  }
  Invariants invariants(const CostQuery&) const override {
    return {.replicas = Invariants::Replicas::equal_after_exchanges};
  }
  std::vector<std::string> trials() const override { return {"", "every=3,momentum=0.5"}; }
  Cost cost(const CostQuery& query) const override {
    if (!communicates(query.step)) return {};
    return sum_over_buckets(query, [&](const Shape& bucket) { return centralized_full_precision_cost(query, bucket); });
  }

  void setup(Worker& worker, std::span<Bucket> buckets) override {
    for (const Bucket& bucket : buckets) {
      begin_.push_back(worker.device.allocate(bucket.weights.shape()));
      worker.device.copy(bucket.weights, begin_.back());
      speed_.push_back(worker.device.allocate(bucket.weights.shape()));
    }
  }

 private:
  bool communicates(std::int64_t step) const override { return (step + 1) % every_ == 0; }
  void exchange(Worker& lane, Bucket& bucket) override {
    const Buffer begin = begin_[static_cast<std::size_t>(bucket.index)];
    const Buffer speed = speed_[static_cast<std::size_t>(bucket.index)];
    centralized_full_precision(lane, bucket.weights);
    lane.device.axpby(-1.0F, bucket.weights, momentum_, speed);
    lane.device.axpby(1.0F, begin, 1.0F, speed);
    lane.device.axpby(-1.0F, speed, 1.0F, begin);
    lane.device.copy(begin, bucket.weights);
  }

  std::int64_t every_;
  float momentum_;
  std::vector<OwnedBuffer> begin_;
  std::vector<OwnedBuffer> speed_;
};

const Algorithms::Registration registration("newcomer/outer_momentum", {"average progress, move by momentum"},
                                            [](Params& params) { return std::make_unique<OuterMomentum>(params); });

}  // namespace
}  // namespace trigram
