// IEEE binary16, nearest even, on device memory.
#include "kernels/cuda/codecs/element_codec.hpp"

namespace trigram {
namespace {

const Codecs::Registration registration("cuda/fp16", Fp16::description(), [](Params&) {
  return std::make_unique<cuda::ElementCodec<Fp16::Element>>(Fp16::properties);
});

}  // namespace
}  // namespace trigram
