// One bit a gradient with error feedback on workers and servers (Karimireddy et al., ICML 2019): what a rank's
// signs leave out is added to its next gradient, so that single steps are far off.
#include "core/primitives/low_precision_gradients.hpp"

namespace trigram {
namespace {

class SignFeedback final : public GradientMethod {
 public:
  Trigram trigram() const override {
    return {Trigram::Synchrony::synchronous, Trigram::Precision::low, Trigram::Centrality::centralized};
  }
  Invariants invariants(const CostQuery& query) const override {
    Invariants held = Algorithm::invariants(query);
    held.settles = 1;
    return held;
  }
  Cost cost(const CostQuery& query) const override {
    const auto codec = make_codec_model("one_bit");
    return sum_over_buckets(query,
                            [&](const Shape& bucket) { return centralized_low_precision_cost(query, bucket, *codec); });
  }
  void setup(Worker& worker, std::span<Bucket> buckets) override {
    const std::shared_ptr<const Codec> codec = worker.device.make_codec("one_bit");
    for (const Bucket& bucket : buckets) averages_.emplace_back(worker, bucket, codec, true);
  }

  void list_state(State& state) override { state.of_each("average", averages_); }

 private:
  void exchange(Worker& lane, Bucket& bucket) override {
    averages_[static_cast<std::size_t>(bucket.index)].average(lane, bucket.gradients);
  }
  std::vector<CentralizedLowPrecision> averages_;
};

const Algorithms::Registration registration("newcomer/sign_feedback", {"average signs, feed errors back"},
                                            [](Params&) { return std::make_unique<SignFeedback>(); });

}  // namespace
}  // namespace trigram
