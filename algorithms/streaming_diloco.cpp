// Streaming DiLoCo: DiLoCo whose buckets, in `fragments` turns, are averaged at different steps, each overlapped with a
// whole step of computing, and are then mixed into weights that have moved on.
//   every `every` steps of a bucket: d = mean_j (x_begin − x_j), overlapped with forward and backward;
//   x_begin ← outer(x_begin, d);  x_j ← keep · (x_j − γ g_j) + (1 − keep) x_begin
// The paper's overlap is of τ steps, here of one; its outer gradients have four bits, here they are whole.
//   rounds 2(n−1) and bytes 2 S (n−1)/n per bucket in its turn with the ring, all buckets in `every` steps.
#include "core/primitives/centralized.hpp"
#include "core/step/bucketwise.hpp"
#include "core/step/optimizer.hpp"

namespace trigram {
namespace {

class StreamingDiLoCo final : public Algorithm {
 public:
  explicit StreamingDiLoCo(Params& params)
      : every_(read_every(params, 10)),
        fragments_(params.get("fragments", std::int64_t{2}, "turns that buckets take", {1, 1 << 20})),
        keep_(static_cast<float>(params.get("keep", 0.5, "share of a rank's own weights when it mixes", {0, 1}))),
        outer_(Optimizers::make(params.get("outer", "nesterov:momentum=0.9", "optimizer of the outer weights"))),
        outer_learning_rate_(params.get("outer_lr", 0.7, "its learning rate", {0, 1e30})) {}

  Trigram trigram() const override {
    return {Trigram::Synchrony::synchronous, Trigram::Precision::full, Trigram::Centrality::centralized};
  }
  /// Ranks keep a share of what is theirs, and momentum carries the mean on.
  Invariants invariants(const CostQuery&) const override { return {}; }
  bool reads_gradients() const override { return false; }
  std::vector<std::string> trials() const override {
    return {"", "every=2,fragments=3,keep=0.25,outer=(momentum:momentum=0.5),outer_lr=0.5"};
  }
  Cost cost(const CostQuery& query) const override {
    Cost total;
    for (std::size_t i = 0; i < query.buckets.size(); ++i) {
      if (is_turn_of(static_cast<int>(i), query.step))
        total += centralized_full_precision_cost(query, query.buckets[i].shape);
    }
    return total;
  }

  void setup(Worker& worker, std::span<Bucket> buckets) override {
    buckets_ = buckets;
    outer_->setup(worker, buckets);
    for (const Bucket& bucket : buckets) {
      worker.device.copy(bucket.weights, begin_.emplace_back(worker.device.allocate(bucket.weights.shape())));
      outer_gradients_.push_back(worker.device.allocate(bucket.weights.shape()));
    }
  }

  void before_forward(Worker& worker) override {
    for (const Bucket& bucket : buckets_) {
      if (!is_turn_of(bucket.index, worker.step)) continue;
      Bucket common = bucket.along(outer_gradients_[static_cast<std::size_t>(bucket.index)]);
      common.weights = begin_[static_cast<std::size_t>(bucket.index)];
      worker.device.weighted_sum(std::array{common.weights, bucket.weights}, std::array{1.0F, -1.0F}, common.gradients);
      pending_.start(worker, bucket, [this, common](Worker& lane) {
        centralized_full_precision(lane, common.gradients);
        outer_->update(lane, common, outer_learning_rate_);
      });
    }
  }
  void before_update(Worker&) override { pending_.wait(); }
  void after_update(Worker& worker, Bucket& bucket) override {
    if (!is_turn_of(bucket.index, worker.step)) return;
    worker.device.axpby(1.0F - keep_, begin_[static_cast<std::size_t>(bucket.index)], keep_, bucket.weights);
  }
  void global_weights(Worker& worker, Bucket& bucket) override {
    worker.device.copy(begin_[static_cast<std::size_t>(bucket.index)], bucket.weights);
  }
  void list_state(State& state) override { state.of("outer", *outer_).buffers("begin", begin_); }

 private:
  /// Turns are spread evenly over `every` steps; none is in the first step, when nothing has moved.
  bool is_turn_of(int bucket, std::int64_t step) const {
    const std::int64_t turn = bucket % fragments_ * every_ / fragments_;
    return step > 0 && (step + turn) % every_ == 0;
  }

  std::int64_t every_, fragments_;
  float keep_;
  std::unique_ptr<Optimizer> outer_;
  double outer_learning_rate_;
  std::span<Bucket> buckets_;
  std::vector<OwnedBuffer> begin_;  ///< outer weights, the same on all ranks
  std::vector<OwnedBuffer> outer_gradients_;
  PendingBuckets pending_;
};

const Algorithms::Registration registration(
    "streaming_diloco",
    {"DiLoCo in fragments that are averaged at different steps, behind computing",
     "Douillard et al., Streaming DiLoCo with overlapping communication, 2025, arXiv:2501.18512",
     "DiLoCo on networks whose peaks cost: buckets travel at different steps, behind computing.",
     "Where replicas must be equal: ranks keep a share of their own weights."},
    [](Params& params) { return std::make_unique<StreamingDiLoCo>(params); });

}  // namespace
}  // namespace trigram
