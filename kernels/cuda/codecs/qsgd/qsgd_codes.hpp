// Four of qsgd's codes of 8 bits at a time, to values and from them; the same as qsgd_value and qsgd_code give.
#pragma once

#include "kernels/cuda/bytes.hpp"
#include "kernels/cuda/codecs/qsgd/qsgd_layout.hpp"
#include "kernels/cuda/quotient.hpp"

namespace trigram::cuda {

/// The word whose draw is 1/2, which rounds to nearest.
inline constexpr std::uint32_t half_draw = 0x80000000U;

/// Four codes from `i` on of `count`; zeros beyond them.
__device__ __forceinline__ std::uint32_t codes_at(const std::uint8_t* codes, int i, int count, bool aligned) {
  if (aligned && i + 4 <= count) return *reinterpret_cast<const std::uint32_t*>(codes + i);
  std::uint32_t four = 0;
#pragma unroll
  for (int j = 0; j < 4; ++j) four |= i + j < count ? static_cast<std::uint32_t>(codes[i + j]) << 8 * j : 0U;
  return four;
}
__device__ __forceinline__ void put_codes(std::uint8_t* codes, int i, int count, std::uint32_t four) {
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    if (i + j < count) codes[i + j] = static_cast<std::uint8_t>(four >> 8 * j);
  }
}

__device__ __forceinline__ std::uint32_t levels_of(std::uint32_t codes) { return codes >> 1U & 0x7f7f7f7fU; }
__device__ __forceinline__ std::uint32_t signs_of(std::uint32_t codes) { return codes << 7U & 0x80808080U; }

__device__ __forceinline__ void decode_four(std::uint32_t codes, float step, float (&values)[4]) {
  const std::uint32_t levels = levels_of(codes);
  const std::uint32_t signs = signs_of(codes);
  for_each_byte([&]<unsigned j>(std::integral_constant<unsigned, j>) {
    const float size = step * (raised_byte<j>(levels) - 0x1p23F);
    values[j] = scalar::from_bits(scalar::bits_of(size) | chosen_bytes<0x0444 | j << 12U>(signs, 0U));
  });
}

/// A level and its sign can be the upper half of a float: that is ±level·2^-133, under all normal numbers. Its product
/// with step·2^133 is that of level and step, rounded once and alike, where step·2^133 is a number. Frames of strangers
/// may have a negative step, whose signs would cancel, or NaN: as bits both are above.
__device__ __forceinline__ bool is_small_step(float step) { return scalar::bits_of(step) < scalar::bits_of(0x1p-6F); }
__device__ __forceinline__ float raised_step(float step) { return step * 0x1p100F * 0x1p33F; }

/// sums[j] += the value of code j.
__device__ __forceinline__ void add_small_steps(std::uint32_t codes, float raised, float (&sums)[4]) {
  const std::uint32_t levels = levels_of(codes);
  const std::uint32_t signs = signs_of(codes);
  for_each_byte([&]<unsigned j>(std::integral_constant<unsigned, j>) {
    // The upper bit of a level is 0 and fills the lower half.
    constexpr unsigned selector = (4U + j) << 12U | j << 8U | (8U + j) << 4U | (8U + j);
    sums[j] += scalar::from_bits(chosen_bytes<selector>(levels, signs)) * raised;
  });
}

/// Rounds values x of a bucket, |x| ≤ norm. With n the draw's 24 bits and a = |x|/norm·levels, the level ⌊a⌋, or one
/// more where n < 2^24·(a − ⌊a⌋), is the whole part of (⌈2^24·a⌉ + 2^24 − 1 − n)/2^24.
struct QuickRounding {
  Quotient by_norm;
  float scale;  ///< of 24 bits and 7 there is room for both in a word

  __device__ __forceinline__ QuickRounding(float norm, int levels)
      : by_norm(Quotient::by(norm)), scale(static_cast<float>(levels) * 0x1p24F) {}

  __device__ __forceinline__ std::uint32_t level(float x, std::uint32_t word) const {
    return __float2uint_ru(fabsf(by_norm.of_moderate(x) * scale)) - (word >> 8U) + 0xffffffU;
  }
  __device__ __forceinline__ std::uint32_t codes(const float (&x)[4], const std::uint32_t (&words)[4]) const {
    const std::uint32_t levels =
        upper_bytes(level(x[0], words[0]), level(x[1], words[1]), level(x[2], words[2]), level(x[3], words[3]));
    const std::uint32_t signs =
        upper_bytes(scalar::bits_of(x[0]), scalar::bits_of(x[1]), scalar::bits_of(x[2]), scalar::bits_of(x[3]));
    return levels << 1U | (signs >> 7U & 0x01010101U);
  }
};

/// Whether QuickRounding may round a bucket with this norm, which all lanes must ask. Up to a norm of 1 it may however
/// small x is: quotients under 2^-100/norm need not be exact, only above 0 where x is and far under 2^-24, and are.
template <int runs>
__device__ __forceinline__ bool rounds_quickly(float norm, const float (&x)[runs][4]) {
  bool moderate = Quotient::is_moderate(norm);
  if (!(norm <= 1.0F)) {
#pragma unroll
    for (int run = 0; run < runs; ++run) {
#pragma unroll
      for (int j = 0; j < 4; ++j) moderate = moderate && (x[run][j] == 0.0F || Quotient::is_moderate(x[run][j]));
    }
  }
  return __all_sync(all_lanes, moderate ? 1 : 0) != 0;
}

/// By the rule itself, for any norm.
__device__ __forceinline__ std::uint32_t codes_by_rule(const float (&x)[4], float norm, int levels,
                                                       const std::uint32_t (&words)[4]) {
  std::uint32_t codes = 0;
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    codes |= qsgd_code(x[j], norm, static_cast<float>(levels), qsgd_draw(words[j])) << 8 * j;
  }
  return codes;
}

}  // namespace trigram::cuda
