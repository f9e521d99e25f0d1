// Values modulo twice θ, on device memory.
#include "kernels/codecs/modulo.hpp"
#include "kernels/cuda/codec.hpp"

namespace trigram::cuda {
namespace {

struct ModuloFrame {
  const std::int8_t* frame;
  ModuloGrid grid;

  template <int N>
  struct Codes {
    std::int8_t residues[N];
  };
  template <int N>
  __device__ __forceinline__ void load(std::int64_t i, Codes<N>& codes) const {
    read<N>(frame + i, codes.residues);
  }
  template <int N>
  __device__ __forceinline__ void decode(std::int64_t, const Codes<N>& codes, float (&values)[N]) const {
#pragma unroll
    for (int j = 0; j < N; ++j) values[j] = grid.value(codes.residues[j]);
  }
};

struct EncodeModulo {
  static constexpr int width = 4;  ///< what a thread reads at once, so that a warp reads 512 bytes in one piece
  const float* values;
  std::int8_t* frame;
  ModuloGrid grid;

  template <int N>
  struct Held {
    float values[N];
  };
  template <int N>
  __device__ void load(std::int64_t i, Held<N>& held) const {
    read<N>(values + i, held.values);
  }
  template <int N>
  __device__ void finish(std::int64_t i, Held<N>& held) const {
    std::int8_t residues[N];
#pragma unroll
    for (int j = 0; j < N; ++j) residues[j] = grid.residue(held.values[j]);
    write<N>(residues, frame + i);
  }
};

class Modulo final : public CudaCodec<Modulo, ModuloModel> {
 public:
  using CudaCodec::CudaCodec;

  void encode_all_of(const CudaKernels& kernels, VectorFrames all) const {
    run_over_parts("encode", kernels, all, wide_values(all) && aligned_frames(all, 4), [this](const VectorFrame& one) {
      return EncodeModulo{one.values, reinterpret_cast<std::int8_t*>(one.frame), grid()};
    });
  }

  template <class Sink>
  void decode_all_of(const CudaKernels& kernels, VectorFrames all, const Sink& sink) const {
    decode_groups(kernels, all, sink, aligned_frames(all, 4), [this](const VectorFrame& one) {
      return ModuloFrame{reinterpret_cast<const std::int8_t*>(one.frame), grid()};
    });
  }
};

const Codecs::Registration registration("cuda/modulo", Modulo::description(),
                                        [](Params& params) { return std::make_unique<Modulo>(params); });

}  // namespace
}  // namespace trigram::cuda
