// QSGD: gradients are averaged by scatter-reduce of stochastically quantized chunks, unbiased, with error feedback as
// an option.
//   g ← C_LP_S(g); x ← x − γ g, with Q(v)_i = ‖v‖ sgn(v_i) ξ_i, E ξ_i = |v_i|/‖v‖ on a grid of `levels`.
//   rounds 2, bytes 2(n−1) encoded(S/n) a rank; one norm a bucket_size elements.
#include "core/primitives/low_precision_gradients.hpp"

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

class Qsgd final : public LowPrecisionGradients {
 public:
  explicit Qsgd(Params& params) : LowPrecisionGradients(params, codec_spec(params)) {}

  Trigram trigram() const override {
    return {Trigram::Synchrony::synchronous, Trigram::Precision::low, Trigram::Centrality::centralized};
  }
  std::vector<std::string> trials() const override { return {"", "levels=63,bucket_size=4,norm=2,error_feedback=on"}; }
};

const Algorithms::Registration registration("qsgd",
                                            {"average stochastically quantized gradients by scatter-reduce",
                                             "Alistarh et al., QSGD, NeurIPS 2017, arXiv:1610.02132"},
                                            [](Params& params) { return std::make_unique<Qsgd>(params); });

}  // namespace
}  // namespace trigram
