// Smoothed: v ← βv + (1 − β)g, w ← w − γv, from v = 0.
// Change: the rule and its paper.
#include "core/optimizers/bucket_state.hpp"

namespace trigram {
namespace {

class Smoothed final : public Optimizer {
 public:
  // Change: every parameter is read here, with its default, what it means and what it may be.
  explicit Smoothed(Params& params)
      : kept_(static_cast<float>(params.get("kept", 0.9, "share of the direction that is kept", {0, 1}))) {}

  // Change: one BucketState for each name below.
  void setup(Worker& worker, std::span<const Bucket> buckets) override { direction_.allocate(worker, buckets); }

  // Change: the rule, as one launch. bucket.groups says which elements weight decay applies to.
  void update(Worker& worker, const Bucket& bucket, double learning_rate) override {
    const Buffer direction = direction_[bucket.index];
    worker.device.fused(Activity::compute, "update", [&] {
      worker.device.axpby(1 - kept_, bucket.gradients, kept_, direction);
      worker.device.axpby(static_cast<float>(-learning_rate), direction, 1, bucket.weights);
    });
  }

  // Change: what it keeps of a bucket, by name.
  std::vector<std::string> state_names() const override { return {"direction"}; }
  Buffer state(const std::string& name, int bucket) const override {
    if (name == "direction") return direction_[bucket];
    throw_no_state(name);
  }
  // Change: all of it, and what else the next step needs, for checkpoints.
  void list_state(State& state) override { direction_.list_state(state, "direction"); }

 private:
  float kept_;
  BucketState direction_;
};

// Change: what `trigram list` says, and the paper as a second text.
const Optimizers::Registration registration("smoothed", {"steps along the smoothed gradient"},
                                            [](Params& params) { return std::make_unique<Smoothed>(params); });

}  // namespace
}  // namespace trigram
