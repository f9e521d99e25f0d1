// natural on device memory: four exponents a thread, from one block of random words; then the signs.
#include "kernels/codecs/natural.hpp"
#include "kernels/cuda/codecs/element_codec.hpp"
#include "kernels/cuda/codecs/sign_bits.hpp"
#include "kernels/philox.hpp"

namespace trigram::cuda {
namespace {

struct WriteExponents : ReadValues {
  std::uint8_t* frame;
  PhiloxStream stream;

  template <int N>
  __device__ void finish(std::int64_t i, Held<N>& held) const {
    std::uint32_t words[4];
    philox_block(stream, static_cast<std::uint64_t>(i / 4), words);
    std::uint8_t exponents[N];
#pragma unroll
    for (int j = 0; j < N; ++j)
      exponents[j] = static_cast<std::uint8_t>(natural_exponent(held.values[j], words[N == 1 ? i % 4 : j]));
    write<N>(exponents, frame + i);
  }
};

struct Negative {
  __device__ __forceinline__ bool operator()(float x) const { return natural_sign(x) != 0; }
};

struct NaturalFrame {
  const std::uint8_t* frame;
  std::int64_t count;

  template <int N>
  struct Codes {
    std::uint8_t exponents[N];
    std::uint8_t signs;
  };
  template <int N>
  __device__ __forceinline__ void load(std::int64_t i, Codes<N>& codes) const {
    read<N>(frame + i, codes.exponents);
    codes.signs = frame[count + i / 8];
  }
  template <int N>
  __device__ __forceinline__ void decode(std::int64_t i, const Codes<N>& codes, float (&values)[N]) const {
#pragma unroll
    for (int j = 0; j < N; ++j) values[j] = natural_value(codes.exponents[j], codes.signs >> (i % 8 + j) & 1U);
  }
};

class Natural final : public CudaCodec<Natural, NaturalModel> {
 public:
  void encode_all_of(const CudaKernels& kernels, VectorFrames all) const {
    run_over_parts("encode", kernels, all, wide_values(all) && aligned_frames(all, 4), [](const VectorFrame& one) {
      return WriteExponents{{one.values}, one.frame, PhiloxStream{Philox(one.key)}};
    });
    write_sign_bits<Negative>(kernels, all, [](const VectorFrame& one) { return one.frame + one.count; });
  }

  template <class Sink>
  void decode_all_of(const CudaKernels& kernels, VectorFrames all, const Sink& sink) const {
    decode_groups(kernels, all, sink, aligned_frames(all, 4), [](const VectorFrame& one) {
      return NaturalFrame{one.frame, one.count};
    });
  }
};

const Codecs::Registration registration("cuda/natural", Natural::description(),
                                        [](Params&) { return std::make_unique<Natural>(); });

}  // namespace
}  // namespace trigram::cuda
