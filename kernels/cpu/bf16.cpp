// bfloat16, nearest even. Frame: 2 bytes an element, in order. |x − x̂| ≤ 2^-8 |x| for normal numbers up to
// 3.39e38, beyond which it gives infinity; NaN stays NaN.
#include "kernels/cpu/half_codec.hpp"

namespace trigram {
namespace {

const Codecs::Registration registration(
    "cpu/bf16",
    {"bfloat16, nearest even", "Kalamkar et al., A study of BFLOAT16 for deep learning training, arXiv:1905.12322"},
    [](Params&) {
      return std::make_unique<HalfCodec<scalar::BF16>>(CodecProperties{.contraction = true, .bound = 0x1p-16});
    });

}  // namespace
}  // namespace trigram
