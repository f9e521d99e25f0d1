// Approximations, as far as the PTX ISA bounds them, at both ends of what they may give.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "tests/ptx/one_instruction.hpp"

namespace trigram::ptx {
namespace {

/// The lower and the upper approximation of a function at a point, the lower one first.
template <class T>
std::pair<double, double> ends_of(const std::string& body, T x) {
  const auto at = [&](Approximation side) {
    const std::uint64_t bits = run(body, {x}, {.approximation = side}).first;
    if constexpr (sizeof(T) == 4) return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
    if constexpr (sizeof(T) == 8) return std::bit_cast<double>(bits);
  };
  const double one = at(Approximation::lower), other = at(Approximation::upper);
  return {std::min(one, other), std::max(one, other)};
}

TEST(PtxApproximate, PowersOfTwoAreOffByTheirBoundAtMost) {
  double widest = 0;
  for (const float x : {-125.9F, -20.3F, -1.0F, -0.7F, -0x1p-30F, 0.1F, 0.5F, 0.99F, 1.0F, 7.25F, 60.001F, 127.9F}) {
    const auto [low, high] = ends_of("ex2.approx.ftz.f32 %f0, %f1;", x);
    const double exact = std::exp2(static_cast<double>(x));
    EXPECT_GE(low, exact * (1 - 0x1p-22)) << x;
    EXPECT_LE(high, exact * (1 + 0x1p-22)) << x;
    EXPECT_LE(low, exact) << x;
    EXPECT_GE(high, exact) << x;
    widest = std::max(widest, (high - low) / exact);
  }
  EXPECT_GE(widest, 0x1p-22) << "the ends are not those of the bound";
}

TEST(PtxApproximate, PowersOfTwoHaveExactLimits) {
  expect_rows({
      {"ex2.approx.ftz.f32 %f0, %f1;", {-infinity}, {0.0F}},
      {"ex2.approx.ftz.f32 %f0, %f1;", {infinity}, {infinity}},
      {"ex2.approx.ftz.f32 %f0, %f1;", {nan}, {any_nan_f32}},
      {"ex2.approx.ftz.f32 %f0, %f1;", {0.0F}, {1.0F}},
      {"ex2.approx.ftz.f32 %f0, %f1;", {-0.0F}, {1.0F}},
      {"ex2.approx.ftz.f32 %f0, %f1;", {0x1p-149F}, {1.0F}},
      {"ex2.approx.ftz.f32 %f0, %f1;", {-0x1p-127F}, {1.0F}},
      {"ex2.approx.ftz.f32 %f0, %f1;", {-127.5F}, {0.0F}},
      {"ex2.approx.ftz.f32 %f0, %f1;", {-1e30F}, {0.0F}},
      {"ex2.approx.ftz.f32 %f0, %f1;", {129.0F}, {infinity}},
  });
  const auto [low, high] = ends_of("ex2.approx.f32 %f0, %f1;", -130.0F);
  EXPECT_GT(low, 0x1.fp-131) << "subnormals stay without .ftz";
  EXPECT_LT(high, 0x1.1p-130);
}

TEST(PtxApproximate, ReciprocalsOfF32AreOffByTheirBoundAtMost) {
  for (const float x : {3.0F, -7.0F, 0x1.fffffep0F, 0x1.8p100F, -0x1.123456p-100F}) {
    const auto [low, high] = ends_of("rcp.approx.ftz.f32 %f0, %f1;", x);
    const double exact = 1 / static_cast<double>(x);
    EXPECT_LE(exact - low, std::abs(exact) * 0x1.0001p-23) << x;
    EXPECT_LE(high - exact, std::abs(exact) * 0x1.0001p-23) << x;
    EXPECT_LE(low, exact) << x;
    EXPECT_GE(high, exact) << x;
  }
}

// The instruction sees the upper 32 bits of its operand, and makes the upper 32 bits of its result.
TEST(PtxApproximate, ReciprocalsOfF64HaveTwentyBits) {
  for (const double x : {3.0, -7.0, 0.1, 0x1.fffffp0, 0x1.00001p0, 1e300, -1e-300, 0x1.23456789abcdep50}) {
    const double seen = std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) & 0xffffffff00000000);
    const auto [low, high] = ends_of("rcp.approx.ftz.f64 %fd0, %fd1;", x);
    EXPECT_LE(std::abs(low * seen - 1), 0x1p-20) << x;
    EXPECT_LE(std::abs(high * seen - 1), 0x1p-20) << x;
    EXPECT_LE(low, 1 / seen) << x;
    EXPECT_GE(high, 1 / seen) << x;
    for (const double end : {low, high}) EXPECT_EQ(std::bit_cast<std::uint64_t>(end) & 0xffffffff, 0U) << x;
  }
}

TEST(PtxApproximate, ReciprocalsHaveExactLimits) {
  expect_rows({
      {"rcp.approx.ftz.f64 %fd0, %fd1;", {infinity_f64}, {0.0}},
      {"rcp.approx.ftz.f64 %fd0, %fd1;", {-infinity_f64}, {-0.0}},
      {"rcp.approx.ftz.f64 %fd0, %fd1;", {0.0}, {infinity_f64}},
      {"rcp.approx.ftz.f64 %fd0, %fd1;", {-0.0}, {-infinity_f64}},
      {"rcp.approx.ftz.f64 %fd0, %fd1;", {0x1p-1030}, {infinity_f64}},
      {"rcp.approx.ftz.f64 %fd0, %fd1;", {-0x1p-1074}, {-infinity_f64}},
      {"rcp.approx.ftz.f64 %fd0, %fd1;", {0x1.8p1023}, {0.0}},
      {"rcp.approx.ftz.f64 %fd0, %fd1;", {nan_f64}, {0x7fffffff00000000}},
      {"rcp.approx.ftz.f64 %fd0, %fd1;", {0x7ff0000000000001}, {0x7fffffff00000000}},
      {"rcp.approx.ftz.f32 %f0, %f1;", {-0.0F}, {-infinity}},
      {"rcp.approx.ftz.f32 %f0, %f1;", {-0x1p-127F}, {-infinity}},
      {"rcp.approx.ftz.f32 %f0, %f1;", {-infinity}, {-0.0F}},
      {"rcp.approx.ftz.f32 %f0, %f1;", {nan}, {any_nan_f32}},
  });
}

}  // namespace
}  // namespace trigram::ptx
