// f16 and bf16: every value there is, and every rounding between two of them.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "kernels/scalar.hpp"

namespace trigram::scalar {
namespace {

/// What the 16 bits mean, from the definition of the format.
double meaning(std::uint32_t bits, int exponent_bits, int fraction_bits) {
  const std::uint32_t fraction = bits & ((1U << fraction_bits) - 1U);
  const std::uint32_t exponent = bits >> fraction_bits & ((1U << exponent_bits) - 1U);
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const double sign = (bits & 0x8000U) != 0 ? -1.0 : 1.0;
  if (exponent == (1U << exponent_bits) - 1U) {
    return fraction == 0 ? sign * std::numeric_limits<double>::infinity() : std::nan("");
  }
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias - fraction_bits);
  return sign * std::ldexp(fraction + (1U << fraction_bits), static_cast<int>(exponent) - bias - fraction_bits);
}

template <class Half>
void expect_all_values(int exponent_bits, int fraction_bits, Half (*round)(float)) {
  for (std::uint32_t bits = 0; bits < 0x10000U; ++bits) {
    const float value = to_f32(Half{static_cast<std::uint16_t>(bits)});
    const double expected = meaning(bits, exponent_bits, fraction_bits);
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(value)) << bits;
      ASSERT_TRUE(std::isnan(to_f32(round(value)))) << bits;
      continue;
    }
    ASSERT_EQ(static_cast<double>(value), expected) << bits;
    ASSERT_EQ(round(value).bits, bits);
  }
}

/// Between each positive value and the next: the middle goes to the even one, a step to either side to that side.
template <class Half>
void expect_nearest_even(std::uint32_t infinity, int exponent_bits, int fraction_bits, Half (*round)(float)) {
  for (std::uint32_t low = 0; low < infinity; ++low) {
    const double below = meaning(low, exponent_bits, fraction_bits);
    // The value after the largest, were there one, decides where infinity begins.
    const double above = low + 1 == infinity ? 2 * below - meaning(low - 1, exponent_bits, fraction_bits)
                                             : meaning(low + 1, exponent_bits, fraction_bits);
    const auto middle = static_cast<float>((below + above) / 2);
    ASSERT_EQ(round(middle).bits, low % 2 == 0 ? low : low + 1);
    ASSERT_EQ(round(std::nextafter(middle, 0.0F)).bits, low);
    ASSERT_EQ(round(std::nextafter(middle, std::numeric_limits<float>::infinity())).bits, low + 1);
    ASSERT_EQ(round(-middle).bits, (low % 2 == 0 ? low : low + 1) | 0x8000U);
  }
}

TEST(F16, EveryValueSurvives) {
  expect_all_values<F16>(5, 10, [](float x) { return to_f16(x); });
}
TEST(BF16, EveryValueSurvives) {
  expect_all_values<BF16>(8, 7, [](float x) { return to_bf16(x); });
}
TEST(F16, RoundsToNearestEven) {
  expect_nearest_even<F16>(0x7c00, 5, 10, [](float x) { return to_f16(x); });
}
TEST(BF16, RoundsToNearestEven) {
  expect_nearest_even<BF16>(0x7f80, 8, 7, [](float x) { return to_bf16(x); });
}

TEST(F16, OverflowGivesInfinity) {
  EXPECT_EQ(to_f16(std::numeric_limits<float>::max()).bits, 0x7c00);
  EXPECT_EQ(to_f16(-65536.0F).bits, 0xfc00);
}

TEST(Halves, HaveOneNaN) {
  for (const std::uint32_t bits : {0x7f800001U, 0x7fc00000U, 0xffc00000U, 0xff812345U, 0x7fffffffU}) {
    EXPECT_EQ(to_f16(from_bits(bits)).bits, 0x7fff) << bits;
    EXPECT_EQ(to_bf16(from_bits(bits)).bits, 0x7fff) << bits;
  }
}

TEST(RoundHalfEven, IsTheNearestWholeNumber) {
  for (const float x : {0.5F, 1.5F, 2.5F, -0.5F, -1.5F, 0.49999997F, 8388607.5F, 8388608.0F, -4194303.5F, 1e30F}) {
    EXPECT_EQ(round_half_even(x), std::nearbyint(x)) << x;
  }
}

}  // namespace
}  // namespace trigram::scalar
