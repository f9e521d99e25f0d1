// ByteGrad: gradients are averaged by scatter-reduce of 8-bit chunks, deterministically and without error feedback
// unless asked for.
//   rounds 2, bytes 2(n−1) encoded(S/n) a rank: about a quarter of all_reduce's.
#include "core/bucketwise.hpp"
#include "core/primitives/centralized.hpp"

namespace trigram {
namespace {

class ByteGrad final : public GradientMethod {
 public:
  explicit ByteGrad(Params& params)
      : codec_(params.get("codec", "minmax_uint8", "how chunks are encoded")),
        error_feedback_(params.get("error_feedback", false, "keep worker and server residuals")),
        model_(make_codec_model(codec_)) {}

  Trigram trigram() const override {
    return {Trigram::Synchrony::synchronous, Trigram::Precision::low, Trigram::Centrality::centralized};
  }

  Cost cost(const CostQuery& query) const override {
    return sum_over_buckets(
        query, [&](const Shape& bucket) { return centralized_low_precision_cost(query, bucket, *model_); });
  }

  void check(const CostQuery& query) const override {
    if (error_feedback_) require_stable_scatter_reduce(query, *model_, codec_);
  }

  void setup(Worker& worker, std::span<Bucket> buckets) override {
    const std::shared_ptr<const Codec> codec = worker.device.make_codec(codec_);
    for (const Bucket& bucket : buckets) averages_.emplace_back(worker, bucket, codec, error_feedback_);
  }

 private:
  void exchange(Worker& lane, Bucket& bucket) override {
    averages_[static_cast<std::size_t>(bucket.index)].average(lane, bucket.gradients);
  }

  std::string codec_;
  bool error_feedback_;
  std::unique_ptr<const Codec> model_;
  std::vector<CentralizedLowPrecision> averages_;
};

const Algorithms::Registration registration("bytegrad",
                                            {"average gradients in 8 bits by scatter-reduce",
                                             "Gan et al., Bagua, VLDB 2022, arXiv:2107.01499"},
                                            [](Params& params) { return std::make_unique<ByteGrad>(params); });

}  // namespace
}  // namespace trigram
