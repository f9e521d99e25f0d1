// bfloat16, nearest even. Frame: 2 bytes an element, in order.
#include "kernels/cpu/codecs/element_codec.hpp"

namespace trigram {
namespace {

const Codecs::Registration registration("cpu/bf16", Bf16::description(), [](Params&) {
  return std::make_unique<ElementCodec<Bf16::Element>>(Bf16::properties);
});

}  // namespace
}  // namespace trigram
