// Asynchronous model averaging in low precision: as async_average, and what travels is what ranks have learned since
// the averaging before, encoded. All know the mean m of that one; m ← m + C_LP_S(snapshot − m), with error feedback,
// and x ← x + (m − own snapshot).
//   rounds 2 and bytes 2(n−1) encoded(S/4n) per rank and averaging, plus one flag; overlaps with everything.
#include "core/compression/encoding_error.hpp"
#include "core/primitives/async_model_average.hpp"

namespace trigram {
namespace {

class LowPrecisionAsyncAverage final : public AsyncModelAverage {
 public:
  explicit LowPrecisionAsyncAverage(Params& params)
      : AsyncModelAverage(params),
        low_{params.get("codec", "minmax_uint8", "how chunks of differences are encoded"),
             params.get("error_feedback", true, "keep worker and server residuals")},
        model_(make_codec_model(low_.codec)) {}

  Trigram trigram() const override {
    return {Trigram::Synchrony::asynchronous, Trigram::Precision::low, Trigram::Centrality::centralized};
  }
  std::vector<std::string> trials() const override { return {"", "every=2,warmup=3", "codec=bf16,error_feedback=off"}; }
  // What an averaging loses is a share of what was learned before it; with feedback the last one's loss is left.
  Invariants invariants(const CostQuery& query) const override {
    Invariants held = AsyncModelAverage::invariants(query);
    held.mean_error = 2 * encoding_error(query.buckets, *model_);
    return held;
  }
  void check(const CostQuery& query) const override {
    if (low_.error_feedback) require_stable_scatter_reduce(query, *model_, low_.codec);
  }
  void setup(Worker& worker, std::span<Bucket> buckets) override { average().setup(worker, buckets, low_); }

 private:
  Cost averaging_cost(const CostQuery& query) const override { return background_average_cost(query, *model_); }

  BackgroundAverage::LowPrecision low_;
  std::unique_ptr<const Codec> model_;
};

const Algorithms::Registration registration(
    "low_precision_async_average",
    {"average encoded changes of weights in the background, keep local progress",
     "Gan et al., Bagua, VLDB 2022, arXiv:2107.01499", "Ranks of unequal speed on a slow network.",
     "Fast networks: encoding takes the time that bytes would."},
    [](Params& params) { return std::make_unique<LowPrecisionAsyncAverage>(params); });

}  // namespace
}  // namespace trigram
