// IEEE binary16, nearest even. Frame: 2 bytes an element, in order.
#include "kernels/cpu/codecs/element_codec.hpp"

namespace trigram {
namespace {

const Codecs::Registration registration("cpu/fp16", Fp16::description(), [](Params&) {
  return std::make_unique<ElementCodec<Fp16::Element>>(Fp16::properties);
});

}  // namespace
}  // namespace trigram
