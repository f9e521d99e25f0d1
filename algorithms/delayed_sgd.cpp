// Delayed SGD: mean gradients are applied `delay` steps after they were computed, so that each all-reduce overlaps with
// a whole step of forward and backward.
//   x_{t+1} = x_t − γ mean_j g_j(x_{t−delay}), and the first `delay` steps move nothing
// Replicas stay equal. The gradients of the last steps are not applied.
//   rounds 2(n−1), bytes 2 S (n−1)/n per rank with the ring, from the second step on.
#include "core/primitives/centralized.hpp"
#include "core/step/bucketwise.hpp"

namespace trigram {
namespace {

class DelayedSgd final : public Algorithm {
 public:
  explicit DelayedSgd(Params& params)
      : delay_(params.get("delay", std::int64_t{1}, "steps from a gradient to its update", {1, 1024})) {}

  Trigram trigram() const override {
    return {Trigram::Synchrony::synchronous, Trigram::Precision::full, Trigram::Centrality::centralized};
  }
  /// The mean lags behind.
  Invariants invariants(const CostQuery&) const override {
    return {.replicas = Invariants::Replicas::equal_after_exchanges, .settles = 1};
  }
  std::vector<std::string> trials() const override { return {"", "delay=3"}; }
  Cost cost(const CostQuery& query) const override {
    if (query.step == 0) return {};
    return sum_over_buckets(query, [&](const Shape& bucket) { return centralized_full_precision_cost(query, bucket); });
  }

  void setup(Worker& worker, std::span<Bucket> buckets) override {
    buckets_ = buckets;
    for (const Bucket& bucket : buckets) {
      late_.push_back(worker.device.allocate(bucket.gradients.shape()));
      for (std::int64_t i = 0; i < delay_; ++i) waiting_.push_back(worker.device.allocate(bucket.gradients.shape()));
    }
  }

  /// Starts the all-reduce of the last step's gradients.
  void before_forward(Worker& worker) override {
    if (worker.step == 0) return;
    for (const Bucket& bucket : buckets_) {
      pending_.start(worker, bucket, [gradients = waiting(bucket, worker.step - 1)](Worker& lane) {
        centralized_full_precision(lane, gradients);
      });
    }
  }
  /// Swaps this step's gradients with those of `delay` steps ago, which the update then applies.
  void before_update(Worker& worker) override {
    pending_.wait();
    for (const Bucket& bucket : buckets_) {
      const Buffer late = late_[static_cast<std::size_t>(bucket.index)], kept = waiting(bucket, worker.step);
      worker.device.fused(Activity::compute, "swap", [&] {
        worker.device.copy(kept, late);
        worker.device.copy(bucket.gradients, kept);
        worker.device.copy(late, bucket.gradients);
      });
    }
  }
  void list_state(State& state) override { state.buffers("waiting", waiting_, Fate::averaged); }

 private:
  Buffer waiting(const Bucket& bucket, std::int64_t step) const {
    return waiting_[static_cast<std::size_t>(bucket.index * delay_ + step % delay_)];
  }

  std::int64_t delay_;
  std::span<Bucket> buckets_;
  std::vector<OwnedBuffer> waiting_;  ///< gradients of the last `delay` steps, bucket by bucket
  std::vector<OwnedBuffer> late_;     ///< temporary of the swap
  PendingBuckets pending_;
};

const Algorithms::Registration registration(
    "delayed_sgd",
    {"average gradients behind the next step, and apply them late",
     "Li et al., Pipe-SGD: a decentralized pipelined SGD framework for distributed deep net training, NeurIPS 2018, "
     "arXiv:1811.03619",
     "Networks on which an all-reduce takes as long as a step: it hides behind the whole next one.",
     "Large learning rates and momenta, which old gradients make unstable."},
    [](Params& params) { return std::make_unique<DelayedSgd>(params); });

}  // namespace
}  // namespace trigram
