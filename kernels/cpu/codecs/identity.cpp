// f32 as they are. Frame: 4 bytes an element, in order.
#include "kernels/cpu/codecs/element_codec.hpp"

namespace trigram {
namespace {

const Codecs::Registration registration("cpu/identity", Identity::description(), [](Params&) {
  return std::make_unique<ElementCodec<Identity::Element>>(Identity::properties);
});

}  // namespace
}  // namespace trigram
