// Values modulo twice θ, on device memory.
#include "kernels/codecs/modulo.hpp"
#include "kernels/cuda/codecs/element_codec.hpp"

namespace trigram::cuda {
namespace {

/// An element is kept as its residue.
struct Residue {
  using Element = std::int8_t;
  ModuloGrid grid;
  __device__ __forceinline__ std::int8_t element(float value) const { return grid.residue(value); }
  __device__ __forceinline__ float value(std::int8_t residue) const { return grid.value(residue); }
};

class Modulo final : public CudaCodec<Modulo, ModuloModel> {
 public:
  using CudaCodec::CudaCodec;

  void encode_all_of(const CudaKernels& kernels, VectorFrames all) const {
    encode_elements(kernels, all, Residue{grid()});
  }

  template <class Sink>
  void decode_all_of(const CudaKernels& kernels, VectorFrames all, const Sink& sink) const {
    decode_elements(kernels, all, sink, Residue{grid()});
  }
};

const Codecs::Registration registration("cuda/modulo", Modulo::description(),
                                        [](Params& params) { return std::make_unique<Modulo>(params); });

}  // namespace
}  // namespace trigram::cuda
