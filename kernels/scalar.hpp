// What happens to one element: rules that every kind of device shares, so that all give the same bits.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "core/device/kernels.hpp"

#ifdef __CUDACC__
#define TRIGRAM_RULE __host__ __device__ __forceinline__
#else
#define TRIGRAM_RULE [[gnu::always_inline]] inline
#endif

namespace trigram::scalar {

/// Sums and norms: element i of a block of `tree_block` goes to lane i mod `tree_lanes`, in order; lanes are halved
/// (l += l + lanes/2) until one is left; block sums are added in pairs, level by level. Terms are f64.
inline constexpr int tree_lanes = 32;
inline constexpr std::int64_t tree_block = 4096;

/// IEEE binary16 and bfloat16 as they lie in memory.
struct F16 {
  std::uint16_t bits;
};
struct BF16 {
  std::uint16_t bits;
};

inline constexpr std::uint32_t sign_mask = 0x80000000U;
inline constexpr std::uint32_t magnitude_mask = 0x7fffffffU;
inline constexpr std::uint32_t infinity_bits = 0x7f800000U;

TRIGRAM_RULE std::uint32_t bits_of(float x) { return std::bit_cast<std::uint32_t>(x); }
TRIGRAM_RULE float from_bits(std::uint32_t bits) { return std::bit_cast<float>(bits); }
/// |x| as an integer: magnitudes compare as integers do, infinity and NaN above all numbers.
TRIGRAM_RULE std::uint32_t magnitude(float x) { return bits_of(x) & magnitude_mask; }

/// The NaN of frames, which is the one that a GPU's arithmetic makes; another processor's keeps signs and payloads.
TRIGRAM_RULE float nan() { return from_bits(magnitude_mask); }
/// x, where every NaN is that one.
TRIGRAM_RULE float with_one_nan(float x) { return magnitude(x) > infinity_bits ? nan() : x; }
/// magnitude(x), where all NaN are alike.
TRIGRAM_RULE std::uint32_t ordered_magnitude(float x) {
  constexpr std::uint32_t any_nan = infinity_bits + 1U;
  const std::uint32_t size = magnitude(x);
  return size < any_nan ? size : any_nan;
}

/// To binary16, nearest even. Overflow gives infinity; every NaN becomes the same one.
TRIGRAM_RULE F16 to_f16(float x) {
  const std::uint32_t sign = (bits_of(x) & sign_mask) >> 16U;
  const std::uint32_t size = magnitude(x);
  // Under 2^-14 a step is 2^-24, which is one unit in the last place of 0.5: the addition rounds.
  const std::uint32_t small = bits_of(from_bits(size) + 0.5F) - bits_of(0.5F);
  // Exponent biases differ by 112; half a unit of the kept bits is added, or just under it when they are even.
  const std::uint32_t normal = (size + 0xfffU + ((size >> 13U) & 1U) - (112U << 23U)) >> 13U;
  std::uint32_t half = size < 0x38800000U ? small : normal;
  half = (size >= 0x47800000U ? 0x7c00U : half) | sign;
  return {static_cast<std::uint16_t>(size > infinity_bits ? 0x7fffU : half)};
}

TRIGRAM_RULE float to_f32(F16 x) {
  const std::uint32_t sign = (x.bits & 0x8000U) << 16U;
  const std::uint32_t size = x.bits & 0x7fffU;
  const std::uint32_t small = bits_of(static_cast<float>(static_cast<std::int32_t>(size)) * 0x1p-24F);
  const std::uint32_t normal = (size << 13U) + (112U << 23U);
  std::uint32_t wide = size < 0x400U ? small : normal;
  wide = size >= 0x7c00U ? (size << 13U) | infinity_bits : wide;
  return from_bits(sign | wide);
}

/// To bfloat16, nearest even. Every NaN becomes the same one.
TRIGRAM_RULE BF16 to_bf16(float x) {
  const std::uint32_t bits = bits_of(x);
  const std::uint32_t rounded = (bits + 0x7fffU + ((bits >> 16U) & 1U)) >> 16U;
  return {static_cast<std::uint16_t>(magnitude(x) > infinity_bits ? 0x7fffU : rounded)};
}

TRIGRAM_RULE float to_f32(BF16 x) { return from_bits(static_cast<std::uint32_t>(x.bits) << 16U); }
TRIGRAM_RULE float to_f32(float x) { return x; }

TRIGRAM_RULE void store(float x, float& to) { to = x; }
TRIGRAM_RULE void store(float x, F16& to) { to = to_f16(x); }
TRIGRAM_RULE void store(float x, BF16& to) { to = to_bf16(x); }

/// Nearest whole number, ties to even, without the processor's rounding instruction.
TRIGRAM_RULE float round_half_even(float x) {
  const float shift = from_bits(bits_of(0x1p23F) | (bits_of(x) & sign_mask));
  return magnitude(x) < bits_of(0x1p23F) ? (x + shift) - shift : x;
}

/// The one of two values that a reduction by min or max keeps; a NaN wins, wherever it stands.
template <class T>
TRIGRAM_RULE T smaller(T y, T x) {
  return x < y || x != x ? x : y;
}
template <class T>
TRIGRAM_RULE T larger(T y, T x) {
  return x > y || x != x ? x : y;
}

/// A sum whose whole numbers wrap around.
template <class T>
TRIGRAM_RULE T wrapped_sum(T y, T x) {
  if constexpr (std::is_integral_v<T>) {
    using Unsigned = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<Unsigned>(y) + static_cast<Unsigned>(x));
  } else {
    return y + x;
  }
}

/// The grid of minmax_uint8 between two values.
struct MinMaxGrid {
  float scale = 0, lower = 0, upper = 0;
  bool constant = false;  ///< no grid fits in f32: all values are alike, or NaN
  bool small = false;     ///< whole numbers stay under 2^22 on it, so that adding 1.5·2^23 rounds
};

/// s = 255 / (max − min + 1e-7), U = rint(max·s), L = U − 255.
TRIGRAM_RULE MinMaxGrid minmax_grid(float smallest, float largest) {
  MinMaxGrid grid;
  grid.scale = 255.0F / (largest - smallest + 1e-7F);
  grid.upper = round_half_even(largest * grid.scale);
  grid.lower = grid.upper - 255.0F;
  grid.constant = magnitude(grid.upper) >= infinity_bits;
  grid.small = grid.upper < 0x1p21F && grid.lower > -0x1p21F;
  return grid;
}

/// clamp(min(rint(x·s), U) − L, 0, 255) on any grid.
TRIGRAM_RULE std::uint8_t minmax_level(float x, const MinMaxGrid& grid) {
  const float rounded = round_half_even(x * grid.scale);
  const float level = (rounded < grid.upper ? rounded : grid.upper) - grid.lower;
  const float raised = level > 0.0F ? level : 0.0F;
  return static_cast<std::uint8_t>(static_cast<std::int32_t>(raised < 255.0F ? raised : 255.0F));
}

/// The same on a small grid, in fewer steps: the sum's lowest bits are the rounded number.
TRIGRAM_RULE std::uint8_t minmax_small_level(float x, const MinMaxGrid& grid) {
  constexpr float shift = 0x1.8p23F;
  const std::uint32_t zero = bits_of(shift + grid.lower);
  const auto level = static_cast<std::int32_t>(bits_of(x * grid.scale + shift) - zero);
  const std::int32_t raised = level > 0 ? level : 0;
  return static_cast<std::uint8_t>(raised < 255 ? raised : 255);
}

TRIGRAM_RULE float minmax_value(std::uint8_t level, const MinMaxGrid& grid) {
  return (static_cast<float>(level) + grid.lower) / grid.scale;
}

/// `exact` ≥ 0 rounded up with the probability of its fraction where `draw` is uniform on [0, 1); at most `levels`.
TRIGRAM_RULE std::uint32_t qsgd_rounded(float exact, float levels, float draw) {
  const auto below = static_cast<float>(static_cast<std::int32_t>(exact));
  const float level = below + (draw < exact - below ? 1.0F : 0.0F);
  return static_cast<std::uint32_t>(static_cast<std::int32_t>(level < levels ? level : levels));
}

/// The level of QSGD: |x|/norm·levels, rounded by `draw`. A norm that is not above 0 gives level 0.
TRIGRAM_RULE std::uint32_t qsgd_level(float x, float norm, float levels, float draw) {
  return qsgd_rounded(norm > 0.0F ? from_bits(magnitude(x)) / norm * levels : 0.0F, levels, draw);
}

}  // namespace trigram::scalar
