// Upper half, on device memory: the frames of kernels/cpu/codecs/upper_half.cpp, to the bit.
// Change: which codec's frames these are. What both files say, parameters, sizes, scalar rules, moves to
// kernels/codecs/.
#include "kernels/cuda/codecs/element_codec.hpp"

namespace trigram::cuda {
namespace {

/// How an element is kept.
// Change: what becomes of one value, and back. Where values depend on each other, kernels/cuda/codecs/minmax_uint8.cu
// is an example.
struct UpperHalfRule {
  using Element = std::uint16_t;

  __device__ __forceinline__ Element element(float x) const {
    return static_cast<Element>(scalar::bits_of(scalar::with_one_nan(x)) >> 16U);
  }
  __device__ __forceinline__ float value(Element kept) const { return scalar::from_bits(std::uint32_t{kept} << 16U); }
};

// Change: the model is the codec's own from kernels/codecs/, as that of modulo; this one has an Element a value, in
// order.
class UpperHalf final : public CudaCodec<UpperHalf, ElementsModel<UpperHalfRule::Element>> {
 public:
  using CudaCodec::CudaCodec;

  // Change: all vectors in as few launches as a chunk needs; kernels run on the lane's stream, and the host waits for
  // none.
  void encode_all_of(const CudaKernels& kernels, VectorFrames all) const {
    encode_elements(kernels, all, UpperHalfRule{});
  }

  // Change: each value of a frame goes to its place through `sink`, which overwrites or adds.
  template <class Sink>
  void decode_all_of(const CudaKernels& kernels, VectorFrames all, const Sink& sink) const {
    decode_elements(kernels, all, sink, UpperHalfRule{});
  }
};

// Change: the description and the properties of the codec for CPUs.
const Codecs::Registration registration("cuda/upper_half", {"the upper half of each f32"}, [](Params&) {
  return std::make_unique<UpperHalf>(CodecProperties{.contraction = true, .bound = 0x1p-14});
});

}  // namespace
}  // namespace trigram::cuda
