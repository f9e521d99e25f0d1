// Floating-point numbers of 16 bits.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace trigram::ptx {

/// A format by its bits: the sign, exponents of exponent_bits, and mantissa_bits.
template <int exponent_bits, int mantissa_bits>
struct SmallFloat {
  static_assert(exponent_bits + mantissa_bits == 15);
  static constexpr std::uint16_t infinity = ((1U << exponent_bits) - 1) << mantissa_bits;
  static constexpr std::uint16_t canonical_nan = 0x7FFF;

  /// Rounds once; the direction is an index of rounding_modes.
  static SmallFloat rounded(double x, std::size_t rounding);

  float to_float() const;

  std::uint16_t bits;
};

using Half = SmallFloat<5, 10>;
using BrainFloat = SmallFloat<8, 7>;

template <int exponent_bits, int mantissa_bits>
SmallFloat<exponent_bits, mantissa_bits> SmallFloat<exponent_bits, mantissa_bits>::rounded(double x,
                                                                                           std::size_t rounding) {
  if (x != x) return {canonical_nan};
  const auto from = std::bit_cast<std::uint64_t>(x);
  const bool negative = from >> 63 != 0;
  const auto biased = static_cast<int>(from >> 52 & 0x7FF);
  const std::uint64_t fraction = from & ((std::uint64_t{1} << 52) - 1);
  const std::uint64_t significand = biased == 0 ? fraction : fraction | std::uint64_t{1} << 52;
  // Above the smallest normal number, which shares its steps with those below.
  const int exponent = (biased == 0 ? 1 : biased) - 1023 - (2 - (1 << (exponent_bits - 1)));
  const int dropped = 52 - mantissa_bits + (exponent < 0 ? -exponent : 0);
  const int shift = dropped < 63 ? dropped : 63;
  const std::uint64_t rest = significand & ((std::uint64_t{1} << shift) - 1), half = std::uint64_t{1} << (shift - 1);
  std::uint64_t kept = significand >> shift;
  const bool away = (rounding == 2 && negative) || (rounding == 3 && !negative);
  kept += rounding == 0 ? rest > half || (rest == half && (kept & 1) != 0) : away && rest != 0;
  if (exponent > 0) kept += static_cast<std::uint64_t>(exponent) << mantissa_bits;
  if (kept >= infinity) kept = rounding == 0 || away || biased == 0x7FF ? infinity : infinity - 1U;
  return {static_cast<std::uint16_t>(kept | (negative ? 0x8000U : 0U))};
}

template <int exponent_bits, int mantissa_bits>
float SmallFloat<exponent_bits, mantissa_bits>::to_float() const {
  const std::uint32_t sign = (bits & 0x8000U) << 16, magnitude = bits & 0x7FFFU;
  if (magnitude > infinity) return std::bit_cast<float>(0x7FFFFFFFU);
  if (magnitude == infinity) return std::bit_cast<float>(sign | 0x7F800000U);
  // Read with f32's bias, the number is a power of two too small; subnormal numbers come out exact, too.
  constexpr float scale = exponent_bits == 8 ? 1.0F : 0x1p112F;
  return std::bit_cast<float>(sign | magnitude << (23 - mantissa_bits)) * scale;
}

}  // namespace trigram::ptx
