// bfloat16, nearest even, on device memory.
#include "kernels/cuda/codecs/element_codec.hpp"

namespace trigram {
namespace {

const Codecs::Registration registration("cuda/bf16", Bf16::description(), [](Params&) {
  return std::make_unique<cuda::ElementCodec<Bf16::Element>>(Bf16::properties);
});

}  // namespace
}  // namespace trigram
