// SCAFFOLD with all ranks in every round: local SGD whose steps are corrected by how ranks drift apart, so that it ends
// at the optimum of the mean loss, however rare averages are and however much data differ.
//   x_j ← x_j − γ (g_j + v_j), `every` times; x̄ = mean x_j; v_j ← v_j + (x_j − x̄)/Γ, Γ = Σ γ since the last average
// v_j is the paper's c − c_j, with c_j the mean gradient of the round (its option II). Σ v_j = 0 follows, so that
// nothing but weights travels, where the paper sends c too.
//   rounds 2(n−1)/every, bytes 2 S (n−1)/(n every) per rank and step with the ring.
#include "core/primitives/centralized.hpp"
#include "core/step/bucketwise.hpp"

namespace trigram {
namespace {

class Scaffold final : public WeightMethod {
 public:
  explicit Scaffold(Params& params) : every_(read_every(params, 4)) {}

  Trigram trigram() const override {
    return {Trigram::Synchrony::synchronous, Trigram::Precision::full, Trigram::Centrality::centralized};
  }
  bool reads_gradients() const override { return true; }
  std::vector<std::string> trials() const override { return {"", "every=3"}; }
  Cost cost(const CostQuery& query) const override {
    if (!communicates(query.step)) return {};
    return sum_over_buckets(query, [&](const Shape& bucket) { return centralized_full_precision_cost(query, bucket); });
  }

  void setup(Worker& worker, std::span<Bucket> buckets) override {
    for (const Bucket& bucket : buckets) corrections_.push_back(worker.device.allocate(bucket.weights.shape()));
  }
  void before_forward(Worker& worker) override {
    if (worker.step % every_ == 0) rates_ = 0;
    rates_ += worker.learning_rate;
  }
  void gradients_ready(Worker& worker, Bucket& bucket) override {
    worker.device.axpby(1.0F, correction(bucket), 1.0F, bucket.gradients);
  }
  void list_state(State& state) override {
    state.buffers("correction", corrections_, Fate::joint).value("rates", rates_);
  }

 private:
  bool communicates(std::int64_t step) const override { return (step + 1) % every_ == 0; }

  void exchange(Worker& lane, Bucket& bucket) override {
    const Buffer own = bucket.gradients;  // free by now
    lane.device.copy(bucket.weights, own);
    centralized_full_precision(lane, bucket.weights);
    if (rates_ == 0) return;
    const auto per_rate = static_cast<float>(1 / rates_);
    lane.device.weighted_sum(std::array{correction(bucket), own, bucket.weights}, std::array{1.0F, per_rate, -per_rate},
                             correction(bucket));
  }
  Buffer correction(const Bucket& bucket) const { return corrections_[static_cast<std::size_t>(bucket.index)]; }

  std::int64_t every_;
  double rates_ = 0;
  std::vector<OwnedBuffer> corrections_;
};

const Algorithms::Registration registration(
    "scaffold",
    {"local SGD, corrected by how ranks drift apart", "Karimireddy et al., SCAFFOLD, ICML 2020, arXiv:1910.06378",
     "Rare averages on data that differ between ranks: all end where the mean loss is least.",
     "Adam or momentum inside, whose steps its corrections do not know."},
    [](Params& params) { return std::make_unique<Scaffold>(params); });

}  // namespace
}  // namespace trigram
