// f32 as they are, on device memory.
#include "kernels/cuda/codecs/element_codec.hpp"

namespace trigram {
namespace {

const Codecs::Registration registration("cuda/identity", Identity::description(), [](Params&) {
  return std::make_unique<cuda::ElementCodec<Identity::Element>>(Identity::properties);
});

}  // namespace
}  // namespace trigram
