// 1-bit Adam: Adam on averaged gradients until its second moment is worth keeping; from then on only the first moment
// travels, one bit an element.
//   steps 1 … T = `warmup`: Adam with g = mean_j g_j
//   then: m_j = β₁ m + (1−β₁) g_j, m ← C_LP_S(m_j), x ← x − γ/(1−β₁ᵗ) · m / (√(v_T/(1−β₂ᵀ)) + ε)
// v keeps the bias correction of step T, when it was frozen. An element whose v_T is 0, since its gradients were, stays
// where it is: a sign has no zero, and ε alone would make it a leap. One whose gradients were rare still leaps, as v_T
// is far below what the sign's scale is divided by: a warm-up sees every feature often.
// codec=minmax_uint8,error_feedback=off sends what Bagua's QAdam sends; as_bagua=on also steps as it does: the
// gradients of step T go nowhere, v, of T − 1 steps, is divided by 1−β₂ᵗ for ever after, so steps grow, an element
// whose v is 0 leaps, and weights do not decay after the warm-up.
//   rounds 2, bytes 2(n−1) encoded(S/4n) per rank after the warm-up, all_reduce's in it.
#include <cmath>

#include "core/optimizers/bucket_state.hpp"
#include "core/primitives/compressed_momentum.hpp"
#include "core/step/optimizer.hpp"

namespace trigram {
namespace {

/// 1 − βᵗ, the share of a moment that t steps have filled.
double correction(float beta, std::int64_t steps) {
  return 1 - std::pow(static_cast<double>(beta), static_cast<double>(steps));
}

class OneBitAdam final : public CompressedMomentum {
 public:
  explicit OneBitAdam(Params& params)
      : CompressedMomentum(params),
        beta1_(static_cast<float>(params.get("beta1", 0.9, "share of the first moment that is kept"))),
        beta2_(static_cast<float>(params.get("beta2", 0.999, "share of the second moment that is kept"))),
        epsilon_(static_cast<float>(params.get("epsilon", 1e-8, "added to the root of the second moment"))),
        weight_decay_(static_cast<float>(params.get("weight_decay", 0.0, "L2 penalty added to the gradient"))),
        as_bagua_(params.get("as_bagua", false, "drop the last warm-up gradient, and correct v as if it went on")),
        adam_(Optimizers::make("adam:beta1=" + number_text(beta1_) + ",beta2=" + number_text(beta2_) +
                               ",epsilon=" + number_text(epsilon_) + ",weight_decay=" + number_text(weight_decay_))) {}

  std::vector<std::string> trials() const override {
    return {"", "warmup=3,exchange=scatter_reduce_ring",
            "warmup=2,codec=minmax_uint8,error_feedback=off,beta1=0.8,beta2=0.99,epsilon=1e-6",
            "warmup=2,codec=minmax_uint8,error_feedback=off,weight_decay=0.1,as_bagua=on"};
  }

  void setup(Worker& worker, std::span<Bucket> buckets) override {
    setup_averages(worker, buckets);
    adam_->setup(worker, buckets);
    if (as_bagua_) divisors_.allocate(worker, buckets);
  }

  void update(Worker& worker, Bucket& bucket) override {
    if (!warms_up(worker.step)) return step(worker, bucket);
    const bool last = worker.step + 1 == warmup();
    if (!last || !as_bagua_) adam_->update(worker, bucket, worker.learning_rate);
    if (last) freeze(worker.device, bucket);
    if (last && as_bagua_) step(worker, bucket);
  }

  void list_state(State& state) override {
    state.of("adam", *adam_);
    list_averages(state);
  }

 private:
  Buffer accumulate(Worker& lane, Bucket& bucket) override {
    const Buffer first = adam_->state("first", bucket.index);
    lane.device.fused(Activity::compute, "momentum", [&] {
      if (!as_bagua_) add_penalty(lane.device, bucket);
      lane.device.axpby(1 - beta1_, bucket.gradients, beta1_, first);
    });
    return first;
  }

  void add_penalty(Device& device, const Bucket& bucket) const {
    if (weight_decay_ == 0) return;
    for (const ParameterGroup& group : bucket.groups) {
      if (group.decays) device.axpby(weight_decay_, group.of(bucket.weights), 1.0F, group.of(bucket.gradients));
    }
  }

  /// In place of v what the first moment is divided by: √(v/(1−β₂ᵀ)) + ε, and infinity where v is 0; as Bagua, √v.
  void freeze(Device& device, const Bucket& bucket) const {
    constexpr double next_to_nothing = 1e-30;  // lost beside the root of any v but 0
    const auto corrected = static_cast<float>(1 / std::sqrt(correction(beta2_, warmup())));
    const Buffer root = adam_->state("second", bucket.index);
    const Buffer kept = bucket.gradients;
    device.fused(Activity::compute, "freeze", [&] {
      device.root(root);
      if (as_bagua_) return;
      device.fill(kept, next_to_nothing);
      device.axpby(1.0F, root, 1.0F, kept);
      device.divide(root, kept);
      device.axpby(epsilon_, kept, corrected, root);
      device.fill(kept, 0);  // backward leaves padding as it finds it
    });
  }

  /// What the first moment is divided by in this step; Bagua's, √(v/(1−β₂ᵗ)) + ε, is another in each.
  Buffer divisor(Worker& worker, int bucket) const {
    const Buffer kept = adam_->state("second", bucket);
    if (!as_bagua_) return kept;
    const Buffer divisor = divisors_[bucket];
    const auto corrected = static_cast<float>(1 / std::sqrt(correction(beta2_, worker.step + 1)));
    worker.device.fill(divisor, epsilon_);
    worker.device.axpby(corrected, kept, 1.0F, divisor);
    return divisor;
  }

  void step(Worker& worker, const Bucket& bucket) const {
    const double rate = worker.learning_rate / correction(beta1_, worker.step + 1);
    const Buffer direction = bucket.gradients;
    worker.device.fused(Activity::compute, "update", [&] {
      worker.device.copy(adam_->state("first", bucket.index), direction);
      worker.device.divide(divisor(worker, bucket.index), direction);
      worker.device.axpby(-static_cast<float>(rate), direction, 1.0F, bucket.weights);
    });
  }

  float beta1_, beta2_, epsilon_, weight_decay_;  ///< as Adam keeps them
  bool as_bagua_;
  std::unique_ptr<Optimizer> adam_;
  BucketState divisors_;  ///< as Bagua: written anew in each step
};

const Algorithms::Registration registration(
    "one_bit_adam",
    {"Adam that averages its first moment in one bit after a warm-up",
     "Tang et al., 1-bit Adam, ICML 2021, arXiv:2102.02888",
     "Adam on slow networks: a thirty-second of the bytes after a warm-up.",
     "Sparse features, as of embeddings, whose second moments a warm-up does not see."},
    [](Params& params) { return std::make_unique<OneBitAdam>(params); });

}  // namespace
}  // namespace trigram
