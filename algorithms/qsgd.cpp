// QSGD: gradients are averaged by scatter-reduce of stochastically quantized chunks, unbiased, with error feedback as
// an option. It is `bytegrad` with codec `qsgd`, whose parameters are its own.
//   g ← C_LP_S(g); x ← x − γ g, with Q(v)_i = ‖v‖ sgn(v_i) ξ_i, E ξ_i = |v_i|/‖v‖ on a grid of `levels`.
//   rounds 2, bytes 2(n−1) encoded(S/4n) per rank; one norm per bucket_size elements.
#include "core/primitives/low_precision_gradients.hpp"

namespace trigram {
namespace {

class Qsgd final : public LowPrecisionGradients {
 public:
  explicit Qsgd(Params& params) : LowPrecisionGradients(params, CodecOfName{"qsgd"}) {}

  std::vector<std::string> trials() const override {
    return {"", "levels=63,bucket_size=4,norm=2,error_feedback=on", "stochastic=off,exchange=all_gather"};
  }
};

const Algorithms::Registration registration(
    "qsgd",
    {"average stochastically quantized gradients by scatter-reduce",
     "Alistarh et al., QSGD, NeurIPS 2017, arXiv:1610.02132",
     "Where what is lost must have no bias, and nothing else to keep: any optimizer follows.",
     "One or two levels without error feedback: variance then eats what bytes save."},
    [](Params& params) { return std::make_unique<Qsgd>(params); });

}  // namespace
}  // namespace trigram
