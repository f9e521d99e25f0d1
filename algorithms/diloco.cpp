// DiLoCo: every rank trains alone with the run's optimizer; every `every` steps an outer optimizer steps the outer
// weights x_begin, the same on all ranks, along the outer gradient, the mean over ranks of x_begin − x_j.
//   d = mean_j (x_begin − x_j);  x_begin ← outer(x_begin, d) at `outer_lr`;  x ← x_begin
// Inner state stays local and is kept; outer state is the same on all ranks. outer=(momentum:momentum=β),outer_lr=α is
// SlowMo (Wang et al., ICLR 2020, arXiv:1910.00643) wherever the learning rate is constant, with its u times γ as
// velocity; outer=sgd,outer_lr=1 is local SGD.
//   rounds 2(n−1)/every, bytes 2 S (n−1)/(n every) per rank and step with the ring.
#include "core/primitives/centralized.hpp"
#include "core/step/bucketwise.hpp"
#include "core/step/optimizer.hpp"

namespace trigram {
namespace {

class DiLoCo final : public WeightMethod {
 public:
  explicit DiLoCo(Params& params)
      : every_(read_every(params, 10)),
        outer_(Optimizers::make(params.get("outer", "nesterov:momentum=0.9", "optimizer of the outer weights"))),
        outer_learning_rate_(params.get("outer_lr", 0.7, "its learning rate", {0, 1e30})) {}

  Trigram trigram() const override {
    return {Trigram::Synchrony::synchronous, Trigram::Precision::full, Trigram::Centrality::centralized};
  }
  /// Momentum carries the mean on, so it follows no gradient.
  Invariants invariants(const CostQuery&) const override {
    return {.replicas = Invariants::Replicas::equal_after_exchanges};
  }
  std::vector<std::string> trials() const override {
    return {"", "every=3,outer=(momentum:momentum=0.5),outer_lr=0.5"};
  }

  Cost cost(const CostQuery& query) const override {
    if (!communicates(query.step)) return {};
    return sum_over_buckets(query, [&](const Shape& bucket) { return centralized_full_precision_cost(query, bucket); });
  }

  void setup(Worker& worker, std::span<Bucket> buckets) override {
    outer_->setup(worker, buckets);
    for (const Bucket& bucket : buckets) {
      begin_.push_back(worker.device.allocate(bucket.weights.shape()));
      worker.device.copy(bucket.weights, begin_.back());
    }
  }

  void global_weights(Worker& worker, Bucket& bucket) override {
    worker.device.copy(begin_[static_cast<std::size_t>(bucket.index)], bucket.weights);
  }
  void list_state(State& state) override { state.of("outer", *outer_).buffers("begin", begin_); }

 private:
  bool communicates(std::int64_t step) const override { return (step + 1) % every_ == 0; }

  void exchange(Worker& lane, Bucket& bucket) override {
    const Buffer outer_weights = begin_[static_cast<std::size_t>(bucket.index)];
    const Buffer outer_gradient = bucket.gradients;
    lane.device.fused(Activity::compute, "difference", [&] {
      lane.device.copy(outer_weights, outer_gradient);
      lane.device.axpby(-1.0F, bucket.weights, 1.0F, outer_gradient);
      lane.device.copy(outer_weights, bucket.weights);
    });
    centralized_full_precision(lane, outer_gradient);
    outer_->update(lane, bucket.along(outer_gradient), outer_learning_rate_);
    lane.device.copy(bucket.weights, outer_weights);
  }

  std::int64_t every_;
  std::unique_ptr<Optimizer> outer_;
  double outer_learning_rate_;
  std::vector<OwnedBuffer> begin_;  ///< outer weights, the same on all ranks
};

const Algorithms::Registration registration(
    "diloco",
    {"train alone, move by an outer optimizer every few steps",
     "Douillard et al., DiLoCo: distributed low-communication training of language models, 2023, arXiv:2311.08105",
     "Islands far apart, and language models with AdamW inside: hundreds of steps between averages.",
     "Short trainings, in which the outer momentum has no time to pay."},
    [](Params& params) { return std::make_unique<DiLoCo>(params); });

}  // namespace
}  // namespace trigram
