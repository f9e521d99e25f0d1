// IEEE binary16, nearest even. Frame: 2 bytes an element, in order. |x − x̂| ≤ 2^-11 |x| from 2^-14 to 65504 and 2^-25
// under it, where values can vanish, so it is no contraction on all vectors; from 65520 on it gives infinity; NaN
// stays.
#include "kernels/cpu/half_codec.hpp"

namespace trigram {
namespace {

const Codecs::Registration registration("cpu/fp16", {"IEEE binary16, nearest even", "IEEE 754-2008"}, [](Params&) {
  return std::make_unique<HalfCodec<scalar::F16>>(CodecProperties{.bound = 1});
});

}  // namespace
}  // namespace trigram
