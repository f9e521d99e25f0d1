// One bit an element, lowest bit first: what is negative, and what stands for either.
#pragma once

#include "kernels/cuda/codecs/bit_frame.hpp"
#include "kernels/cuda/codecs/codec.hpp"

namespace trigram::cuda {

struct BelowZero {
  __device__ __forceinline__ bool operator()(float x) const { return x < 0.0F; }
};

/// A byte for eight elements; bits after the last are 0.
template <class Negative>
struct WriteSigns {
  static constexpr int width = 1;
  static constexpr int groups = 2;
  const float* values;
  std::uint8_t* bits;
  std::int64_t elements;

  template <int N>
  struct Held {
    float values[8];
  };
  __device__ void load(std::int64_t byte, Held<1>& held) const {
#pragma unroll
    for (int j = 0; j < 8; ++j) held.values[j] = 8 * byte + j < elements ? values[8 * byte + j] : 0.0F;
  }
  __device__ void finish(std::int64_t byte, Held<1>& held) const {
    std::uint32_t signs = 0;
#pragma unroll
    for (int j = 0; j < 8; ++j) signs |= (Negative()(held.values[j]) ? 1U : 0U) << static_cast<std::uint32_t>(j);
    bits[byte] = static_cast<std::uint8_t>(signs);
  }
};

/// Writes the signs of all vectors in one launch, each from bits(vector) on.
template <class Negative, class Bits>
void write_sign_bits(const CudaKernels& kernels, VectorFrames all, const Bits& bits) {
  struct Signs {
    VectorFrame whole;
    std::int64_t count;  ///< bytes
  };
  std::vector<Signs> signs;
  signs.reserve(all.size());
  for (const VectorFrame& one : all) signs.push_back({one, (one.count + 7) / 8});
  run_over_parts("encode", kernels, std::span<const Signs>(signs), false, [&](const Signs& one) {
    return WriteSigns<Negative>{one.whole.values, bits(one.whole), one.whole.count};
  });
}

/// A frame whose bits say which of two values an element has.
struct TwoValuesFrame : BitFrame {
  float positive, negative;

  template <int N>
  __device__ __forceinline__ void decode(std::int64_t i, const Codes<N>& codes, float (&values)[N]) const {
#pragma unroll
    for (int j = 0; j < N; ++j) values[j] = (codes.byte >> (i % 8 + j) & 1U) != 0 ? negative : positive;
  }
};

}  // namespace trigram::cuda
