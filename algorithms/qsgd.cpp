// QSGD: gradients are averaged by scatter-reduce of stochastically quantized chunks, unbiased, with error feedback as
// an option.
//   rounds 2, bytes 2(n−1) encoded(S/n) a rank; one norm a bucket_size elements.
#include "core/bucketwise.hpp"
#include "core/primitives/centralized.hpp"

namespace trigram {
namespace {

/// The codec that these parameters ask for; they are declared in the order of reading.
std::string codec_spec(Params& params) {
  const int levels = params.get("levels", 255, "quantization levels of a magnitude");
  const int bucket_size = params.get("bucket_size", 512, "elements that share a norm");
  const std::string norm = params.get("norm", "max", "norm of a bucket: 2 or max");
  return "qsgd:levels=" + std::to_string(levels) + ",bucket_size=" + std::to_string(bucket_size) + ",norm=(" + norm +
         ")";
}

class Qsgd final : public GradientMethod {
 public:
  explicit Qsgd(Params& params)
      : codec_(codec_spec(params)),
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

const Algorithms::Registration registration("qsgd",
                                            {"average stochastically quantized gradients by scatter-reduce",
                                             "Alistarh et al., QSGD, NeurIPS 2017, arXiv:1610.02132"},
                                            [](Params& params) { return std::make_unique<Qsgd>(params); });

}  // namespace
}  // namespace trigram
