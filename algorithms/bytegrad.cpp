// ByteGrad: gradients are averaged by scatter-reduce of 8-bit chunks, deterministically and without error feedback
// unless asked for.
//   g ← C_LP_S(g); x ← x − γ g.  Rank j sends Q(chunk i of g_j) to server i, which sends Q(mean of them) to everyone.
//   rounds 2, bytes 2(n−1) encoded(S/4n) per rank: about a quarter of all_reduce's.
#include "core/primitives/low_precision_gradients.hpp"

namespace trigram {
namespace {

class ByteGrad final : public LowPrecisionGradients {
 public:
  explicit ByteGrad(Params& params)
      : LowPrecisionGradients(params, params.get("codec", "minmax_uint8", "how chunks are encoded")) {}

  std::vector<std::string> trials() const override {
    return {"", "codec=bf16,exchange=scatter_reduce_ring", "codec=one_bit,error_feedback=on", "exchange=all_gather",
            "codec=one_bit,error_feedback=on,exchange=all_gather"};
  }
};

const Algorithms::Registration registration(
    "bytegrad",
    {"average gradients in 8 bits by scatter-reduce", "Gan et al., Bagua, VLDB 2022, arXiv:2107.01499",
     "Networks of middling speed: a quarter of the bytes, and hardly anything lost.",
     "Networks on which a quarter is still too much, and latency that its rounds do not shorten."},
    [](Params& params) { return std::make_unique<ByteGrad>(params); });

}  // namespace
}  // namespace trigram
