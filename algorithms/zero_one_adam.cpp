// 0/1 Adam: Adam whose second moment is learned ever more rarely and then frozen, and whose ranks, from then on, step
// alone and send one bit an element of what they went, ever more rarely too.
//   m_j ← β₁ m_j + (1−β₁) g_j;  u_j ← u_j + γ' m_j;  x_j ← x_j − γ' m_j/d, with γ' = γ/(1−β₁ᵗ)
//   in an exchange: ū = C_LP_S(u_j);  m ← ū/Σ γ';  x ← x' − ū/d;  u ← 0, with x' and Σ since the exchange before
//   until step `freeze`: in steps that learn, g = mean g_j whole, v ← β₂ v + (1−β₂) g² and d = √(v/(1−β₂ᵏ)) + ε after k
//   such steps; they follow each other after 1, 2, 4, … steps, 16 times each. All other steps exchange.
//   from then on: an exchange after 1, 2, 4, … steps, each for `double_every` steps, `most_local` at most.
// An element whose v is 0, since its gradients were, stays where it is. As Microsoft's DeepSpeed does it.
//   rounds 2, bytes 2(n−1) encoded(S/4n) per rank and exchange; all_reduce's in steps that learn
#include <algorithm>
#include <cmath>

#include "core/primitives/centralized.hpp"
#include "core/step/bucketwise.hpp"

namespace trigram {
namespace {

/// What a rank keeps of a bucket.
struct ZeroOneMoments {
  OwnedBuffer first, second, divisor;
  OwnedBuffer went, begin;  ///< u and x'
};

class ZeroOneAdam final : public Algorithm {
 public:
  explicit ZeroOneAdam(Params& params)
      : freeze_(params.get("freeze", std::int64_t{100}, "first steps, in which the second moment is learned",
                           {1, 1'000'000'000})),
        double_every_(
            params.get("double_every", std::int64_t{100}, "steps in which exchanges are equally rare", {.least = 1})),
        most_local_(
            params.get("most_local", std::int64_t{16}, "most steps from one exchange to the next", {1, 1 << 20})),
        codec_(params.get("codec", "one_bit", "how what ranks went is encoded")),
        model_(make_codec_model(codec_)),
        beta1_(static_cast<float>(params.get("beta1", 0.9, "share of the first moment that is kept", {0, 0.999999}))),
        beta2_(
            static_cast<float>(params.get("beta2", 0.999, "share of the second moment that is kept", {0, 0.999999}))),
        epsilon_(static_cast<float>(params.get("epsilon", 1e-8, "added to the root of the second moment", {0, 1}))) {}

  Trigram trigram() const override {
    return {Trigram::Synchrony::synchronous, Trigram::Precision::low, Trigram::Centrality::centralized};
  }
  bool uses_optimizer() const override { return false; }
  std::vector<std::string> trials() const override {
    return {"", "freeze=3,double_every=4,most_local=2,codec=minmax_uint8,beta1=0.8,beta2=0.99,epsilon=1e-6"};
  }
  Cost cost(const CostQuery& query) const override {
    if (!learns(query.step) && !exchanges(query.step)) return {};
    return sum_over_buckets(query, [&](const Shape& bucket) {
      return learns(query.step) ? centralized_full_precision_cost(query, bucket)
                                : centralized_low_precision_cost(query, bucket, *model_);
    });
  }
  void check(const CostQuery& query) const override { require_stable_scatter_reduce(query, *model_, codec_); }

  void setup(Worker& worker, std::span<Bucket> buckets) override {
    const std::shared_ptr<const Codec> codec = worker.device.make_codec(codec_);
    for (const Bucket& bucket : buckets) {
      ZeroOneMoments& own = moments_.emplace_back();
      for (OwnedBuffer* buffer : {&own.first, &own.second, &own.divisor, &own.went, &own.begin})
        *buffer = worker.device.allocate(bucket.weights.shape());
      worker.device.copy(bucket.weights, own.begin);
      averages_.emplace_back(worker, bucket, codec, true);
    }
  }

  void gradients_ready(Worker& worker, Bucket& bucket) override {
    if (!learns(worker.step)) return;
    pending_.start(worker, bucket, [&bucket](Worker& lane) { centralized_full_precision(lane, bucket.gradients); });
  }
  void before_update(Worker& worker) override {
    pending_.wait();
    if (learns(worker.step)) ++learned_;
    const double filled = 1 - std::pow(static_cast<double>(beta1_), static_cast<double>(worker.step + 1));
    rate_ = worker.learning_rate / filled;
    rates_ += rate_;
  }
  void update(Worker& worker, Bucket& bucket) override {
    const ZeroOneMoments& own = moments_[static_cast<std::size_t>(bucket.index)];
    const auto rate = static_cast<float>(rate_);
    worker.device.fused(Activity::compute, "update", [&] {
      worker.device.axpby(1 - beta1_, bucket.gradients, beta1_, own.first);
      if (learns(worker.step)) learn(worker.device, own, bucket.gradients);
      worker.device.axpby(rate, own.first, 1.0F, own.went);
      step_from(worker.device, own.first, rate, own, bucket);
    });
  }
  /// Where gradients were averaged whole, ranks are equal already.
  void after_update(Worker& worker, Bucket& bucket) override {
    if (!exchanges(worker.step)) return;
    const ZeroOneMoments& own = moments_[static_cast<std::size_t>(bucket.index)];
    if (learns(worker.step)) return begin_anew(worker, own, bucket);
    pending_.start(worker, bucket, [this, &own, &bucket](Worker& lane) {
      averages_[static_cast<std::size_t>(bucket.index)].average(lane, own.went);
      lane.device.axpby(static_cast<float>(1 / rates_), own.went, 0.0F, own.first);
      lane.device.copy(own.begin, bucket.weights);
      step_from(lane.device, own.went, 1.0F, own, bucket);
      begin_anew(lane, own, bucket);
    });
  }
  void after_step(Worker& worker) override {
    pending_.wait();
    if (exchanges(worker.step)) rates_ = 0;
  }

  void list_state(State& state) override {
    for (const ZeroOneMoments& own : moments_) {
      state.buffer("first", own.first, Fate::balanced);
      state.buffer("second", own.second).buffer("divisor", own.divisor);
      state.buffer("went", own.went, Fate::balanced).buffer("begin", own.begin);
    }
    state.of_each("average", averages_).value("learned", learned_).value("rates", rates_);
  }

 private:
  /// Steps 0, 1, …, 15, 17, 19, …, 47, 51, …: gaps of 1, 2, 4, …, 16 times each.
  bool learns(std::int64_t step) const {
    constexpr std::int64_t times = 16;
    if (step >= freeze_) return false;
    std::int64_t gap = 1, first = 0;
    for (; step >= first + times * gap; gap *= 2) first += times * gap;
    return (step - first) % gap == 0;
  }
  bool exchanges(std::int64_t step) const {
    if (step < freeze_) return true;
    std::int64_t gap = 1, first = freeze_;
    for (; gap < most_local_ && step >= first + double_every_; gap = std::min(2 * gap, most_local_))
      first += double_every_;
    return (step - first + 1) % gap == 0;
  }

  /// v and what moments are divided by: √(v/(1−β₂ᵏ)) + ε, and infinity where v is 0. `g` is lost.
  void learn(Device& device, const ZeroOneMoments& own, Buffer g) const {
    constexpr double next_to_nothing = 1e-30;  // lost beside the root of any v but 0
    const double filled = 1 - std::pow(static_cast<double>(beta2_), static_cast<double>(learned_));
    device.multiply(g, g);
    device.axpby(1 - beta2_, g, beta2_, own.second);
    device.copy(own.second, g);
    device.root(g);
    device.fill(own.divisor, next_to_nothing);
    device.axpby(1.0F, g, 1.0F, own.divisor);
    device.divide(g, own.divisor);
    device.axpby(static_cast<float>(1 / std::sqrt(filled)), g, epsilon_, own.divisor);
  }
  /// x ← x − rate · direction/d. Gradients are free by then.
  static void step_from(Device& device, Buffer direction, float rate, const ZeroOneMoments& own, const Bucket& bucket) {
    device.copy(direction, bucket.gradients);
    device.divide(own.divisor, bucket.gradients);
    device.axpby(-rate, bucket.gradients, 1.0F, bucket.weights);
    device.fill(bucket.gradients, 0);  // backward leaves padding as it finds it
  }
  static void begin_anew(Worker& worker, const ZeroOneMoments& own, const Bucket& bucket) {
    worker.device.copy(bucket.weights, own.begin);
    worker.device.fill(own.went, 0);
  }

  std::int64_t freeze_, double_every_, most_local_;
  std::string codec_;
  std::unique_ptr<const Codec> model_;
  float beta1_, beta2_, epsilon_;
  std::int64_t learned_ = 0;  ///< steps that taught the second moment
  double rate_ = 0;           ///< γ' of this step
  double rates_ = 0;          ///< Σ γ' since the last exchange
  std::vector<ZeroOneMoments> moments_;
  std::vector<CentralizedLowPrecision> averages_;
  PendingBuckets pending_;
};

const Algorithms::Registration registration(
    "zero_one_adam",
    {"Adam that learns its second moment rarely, and sends a bit an element rarely",
     "Lu et al., Maximizing communication efficiency for large-scale training "
     "via 0/1 Adam, ICLR 2023, arXiv:2202.06009",
     "Adam on the slowest networks: a bit an element, and less and less often.",
     "Sparse features, as of embeddings, whose second moments its few whole gradients do not see."},
    [](Params& params) { return std::make_unique<ZeroOneAdam>(params); });

}  // namespace
}  // namespace trigram
