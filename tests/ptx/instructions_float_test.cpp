// Arithmetic of floats, as the PTX ISA and IEEE 754 define it: rounding, signs of zero, infinities, NaN, subnormals.
#include <gtest/gtest.h>

#include <limits>

#include "tests/ptx/one_instruction.hpp"

namespace trigram::ptx {
namespace {

constexpr float largest = std::numeric_limits<float>::max();

TEST(PtxFloat, SumsRoundAsTheyAreTold) {
  expect_rows({
      {"add.f32 %f0, %f1, %f2;", {1.0F, 0x1p-24F}, {1.0F}},
      {"add.rn.f32 %f0, %f1, %f2;", {1.0F, 0x1p-24F}, {1.0F}},
      {"add.rn.f32 %f0, %f1, %f2;", {0x1.000002p0F, 0x1p-24F}, {0x1.000004p0F}},
      {"add.rn.f32 %f0, %f1, %f2;", {1.0F, 0x1.000002p-24F}, {0x1.000002p0F}},
      {"add.rn.f32 %f0, %f1, %f2;", {-1.0F, -0x1.000002p-24F}, {-0x1.000002p0F}},
      {"add.rz.f32 %f0, %f1, %f2;", {1.0F, 0x1.fffffep-24F}, {1.0F}},
      {"add.rz.f32 %f0, %f1, %f2;", {-1.0F, -0x1.fffffep-24F}, {-1.0F}},
      {"add.rm.f32 %f0, %f1, %f2;", {-1.0F, -0x1p-40F}, {-0x1.000002p0F}},
      {"add.rm.f32 %f0, %f1, %f2;", {1.0F, 0x1.fffffep-24F}, {1.0F}},
      {"add.rm.f32 %f0, %f1, %f2;", {1.0F, -0x1p-40F}, {0x1.fffffep-1F}},
      {"add.rp.f32 %f0, %f1, %f2;", {1.0F, 0x1p-40F}, {0x1.000002p0F}},
      {"add.rp.f32 %f0, %f1, %f2;", {-1.0F, -0x1.fffffep-24F}, {-1.0F}},
      {"add.rn.f64 %fd0, %fd1, %fd2;", {1.0, 0x1p-53}, {1.0}},
      {"add.rn.f64 %fd0, %fd1, %fd2;", {0x1.0000000000001p0, 0x1p-53}, {0x1.0000000000002p0}},
      {"add.f64 %fd0, %fd1, 0d0000000000000000;", {-0.0}, {0.0}},
      {"add.rz.f64 %fd0, %fd1, %fd2;", {-1.0, -0x1.8p-53}, {-1.0}},
      {"add.rm.f64 %fd0, %fd1, %fd2;", {-1.0, -0x1p-80}, {-0x1.0000000000001p0}},
      {"add.rp.f64 %fd0, %fd1, %fd2;", {1.0, 0x1p-80}, {0x1.0000000000001p0}},
      {"sub.rn.f32 %f0, %f1, %f2;", {1.0F, 0x1p-25F}, {1.0F}},
      {"sub.rn.f32 %f0, %f1, %f2;", {1.0F, 0x1.8p-25F}, {0x1.fffffep-1F}},
      {"sub.f32 %f0, %f1, %f2;", {3.0F, 5.0F}, {-2.0F}},
      {"sub.rz.f32 %f0, %f1, %f2;", {1.0F, 0x1p-40F}, {0x1.fffffep-1F}},
      {"sub.rm.f32 %f0, %f1, %f2;", {1.0F, 1.0F}, {-0.0F}},
      {"sub.rp.f32 %f0, %f1, %f2;", {1.0F, 0x1p-40F}, {1.0F}},
      {"sub.rn.f64 %fd0, %fd1, %fd2;", {1.0, 0x1p-54}, {1.0}},
      {"sub.rn.f64 %fd0, %fd1, %fd2;", {0x1p54, 1.5}, {0x1.fffffffffffffp53}},
  });
}

TEST(PtxFloat, SumsOfZerosInfinitiesAndNan) {
  expect_rows({
      {"add.rn.f32 %f0, %f1, %f2;", {-0.0F, -0.0F}, {-0.0F}},
      {"add.rn.f32 %f0, %f1, %f2;", {0.0F, -0.0F}, {0.0F}},
      {"add.rn.f32 %f0, %f1, %f2;", {1.0F, -1.0F}, {0.0F}},
      {"add.rm.f32 %f0, %f1, %f2;", {1.0F, -1.0F}, {-0.0F}},
      {"add.rn.f32 %f0, %f1, %f2;", {infinity, -infinity}, {any_nan_f32}},
      {"add.rn.f32 %f0, %f1, %f2;", {-infinity, 1.0F}, {-infinity}},
      {"add.rn.f32 %f0, %f1, %f2;", {nan, 1.0F}, {any_nan_f32}},
      {"add.rn.f32 %f0, %f1, %f2;", {largest, 0x1p103F}, {infinity}},
      {"add.rn.f32 %f0, %f1, %f2;", {largest, 0x1.fffffep102F}, {largest}},
      {"add.rz.f32 %f0, %f1, %f2;", {largest, largest}, {largest}},
      {"add.rm.f32 %f0, %f1, %f2;", {largest, largest}, {largest}},
      {"add.rm.f32 %f0, %f1, %f2;", {-largest, -largest}, {-infinity}},
      {"add.rp.f32 %f0, %f1, %f2;", {-largest, -largest}, {-largest}},
      {"sub.rn.f64 %fd0, %fd1, %fd2;", {infinity_f64, infinity_f64}, {any_nan_f64}},
      {"sub.rn.f64 %fd0, %fd1, %fd2;", {1.0, nan_f64}, {any_nan_f64}},
      {"sub.rn.f64 %fd0, %fd1, %fd2;", {-0.0, 0.0}, {-0.0}},
  });
}

TEST(PtxFloat, SubnormalsAreKeptOrFlushedWithTheirSign) {
  expect_rows({
      {"add.rn.f32 %f0, %f1, %f2;", {0x1p-126F, -0x1.8p-126F}, {-0x1p-127F}},
      {"add.rn.ftz.f32 %f0, %f1, %f2;", {0x1p-126F, -0x1.8p-126F}, {-0.0F}},
      {"add.ftz.f32 %f0, %f1, %f2;", {0x1.8p-126F, -0x1p-126F}, {0.0F}},
      {"add.ftz.f32 %f0, %f1, %f2;", {-0x1p-127F, -0x1p-127F}, {-0.0F}},
      {"add.f32 %f0, %f1, %f2;", {-0x1p-127F, -0x1p-127F}, {-0x1p-126F}},
      {"sub.ftz.f32 %f0, %f1, %f2;", {1.0F, 0x1p-127F}, {1.0F}},
      {"mul.rn.f32 %f0, %f1, %f2;", {-0x1p-64F, 0x1p-63F}, {-0x1p-127F}},
      {"mul.rn.ftz.f32 %f0, %f1, %f2;", {-0x1p-64F, 0x1p-63F}, {-0.0F}},
      {"mul.f32 %f0, %f1, %f2;", {0x1p-149F, 0x1p120F}, {0x1p-29F}},
      {"mul.ftz.f32 %f0, %f1, %f2;", {0x1p-149F, 0x1p120F}, {0.0F}},
      {"mul.ftz.f32 %f0, %f1, %f2;", {0x1p-149F, -infinity}, {any_nan_f32}},
      {"fma.rn.ftz.f32 %f0, %f1, %f2, %f3;", {0x1p-149F, 0x1p120F, 1.0F}, {1.0F}},
      {"fma.rn.ftz.f32 %f0, %f1, %f2, %f3;", {0x1p-64F, 0x1p-63F, -0x1p-128F}, {0.0F}},
      {"fma.rn.f32 %f0, %f1, %f2, %f3;", {0x1p-64F, 0x1p-63F, -0x1p-128F}, {0x1p-128F}},
      {"div.rn.f32 %f0, %f1, %f2;", {0x1p-126F, -2.0F}, {-0x1p-127F}},
      {"div.rn.ftz.f32 %f0, %f1, %f2;", {0x1p-126F, -2.0F}, {-0.0F}},
      {"rcp.rn.f32 %f0, %f1;", {0x1p127F}, {0x1p-127F}},
      {"rcp.rn.ftz.f32 %f0, %f1;", {0x1p127F}, {0.0F}},
      {"rcp.rn.ftz.f32 %f0, %f1;", {-0x1p-127F}, {-infinity}},
      {"sqrt.rn.f32 %f0, %f1;", {0x1p-148F}, {0x1p-74F}},
      {"sqrt.rn.ftz.f32 %f0, %f1;", {-0x1p-148F}, {-0.0F}},
      {"abs.f32 %f0, %f1;", {-0x1p-149F}, {0x1p-149F}},
      {"abs.ftz.f32 %f0, %f1;", {-0x1p-149F}, {0.0F}},
      {"neg.f32 %f0, %f1;", {0x1p-149F}, {-0x1p-149F}},
      {"neg.ftz.f32 %f0, %f1;", {0x1p-149F}, {-0.0F}},
      {"max.f32 %f0, %f1, %f2;", {0x1p-127F, -1.0F}, {0x1p-127F}},
      {"max.ftz.f32 %f0, %f1, %f2;", {0x1p-127F, -1.0F}, {0.0F}},
      {"min.ftz.f32 %f0, %f1, %f2;", {-0x1p-127F, 1.0F}, {-0.0F}},
      {"add.rn.f64 %fd0, %fd1, %fd2;", {0x1p-1022, -0x1.8p-1022}, {-0x1p-1023}},
      {"mul.rn.f64 %fd0, %fd1, %fd2;", {0x1p-1074, 0x1p100}, {0x1p-974}},
  });
}

TEST(PtxFloat, ProductsRoundAsTheyAreTold) {
  // (1 + 2^-12)^2 = 1 + 2^-11 + 2^-24 lies halfway between two floats.
  expect_rows({
      {"mul.f32 %f0, %f1, %f2;", {0x1.001p0F, 0x1.001p0F}, {0x1.002p0F}},
      {"mul.rn.f32 %f0, %f1, %f2;", {0x1.001p0F, 0x1.001p0F}, {0x1.002p0F}},
      {"mul.rp.f32 %f0, %f1, %f2;", {0x1.001p0F, 0x1.001p0F}, {0x1.002002p0F}},
      {"mul.rm.f32 %f0, %f1, %f2;", {-0x1.001p0F, 0x1.001p0F}, {-0x1.002002p0F}},
      {"mul.rz.f32 %f0, %f1, %f2;", {-0x1.001p0F, 0x1.001p0F}, {-0x1.002p0F}},
      {"mul.rn.f32 %f0, %f1, %f2;", {0x1p-75F, 0x1p-75F}, {0.0F}},
      {"mul.rn.f32 %f0, %f1, %f2;", {0x1p-75F, -0x1.8p-75F}, {-0x1p-149F}},
      {"mul.rp.f32 %f0, %f1, %f2;", {0x1p-75F, 0x1p-100F}, {0x1p-149F}},
      {"mul.rp.f32 %f0, %f1, %f2;", {0x1p-75F, -0x1p-100F}, {-0.0F}},
      {"mul.rn.f32 %f0, %f1, %f2;", {0x1p64F, -0x1p64F}, {-infinity}},
      {"mul.rz.f32 %f0, %f1, %f2;", {0x1p64F, -0x1p64F}, {-largest}},
      {"mul.rn.f32 %f0, %f1, %f2;", {0.0F, -infinity}, {any_nan_f32}},
      {"mul.rn.f32 %f0, %f1, %f2;", {-0.0F, 2.0F}, {-0.0F}},
      {"mul.rn.f64 %fd0, %fd1, %fd2;", {0x1.0000002p0, 0x1.0000004p0}, {0x1.0000006p0}},
      {"mul.rm.f64 %fd0, %fd1, %fd2;", {0x1.0000002p0, 0x1.0000002p0}, {0x1.0000004p0}},
      {"mul.rp.f64 %fd0, %fd1, %fd2;", {0x1.0000002p0, 0x1.0000001p0}, {0x1.0000003000001p0}},
      {"mul.rz.f64 %fd0, %fd1, %fd2;", {-0x1.0000002p0, 0x1.0000001p0}, {-0x1.0000003p0}},
  });
}

TEST(PtxFloat, FusedOnesRoundOnce) {
  expect_rows({
      {"fma.rn.f32 %f0, %f1, %f2, %f3;", {0x1.001p0F, 0x1.001p0F, -0x1.002p0F}, {0x1p-24F}},
      {"fma.rn.f32 %f0, %f1, %f2, %f3;", {0x1.000002p0F, 0x1.fffffcp-1F, -1.0F}, {-0x1p-46F}},
      {"fma.rn.f64 %fd0, %fd1, %fd2, %fd3;", {0x1.0000002p0, 0x1.0000002p0, -0x1.0000004p0}, {0x1p-54}},
      // 97 * 172961 = 2^24 + 1: just above halfway, which arithmetic in f64 would lose.
      {"fma.rn.f32 %f0, %f1, %f2, %f3;", {97.0F, 0x1.51d08p-7F, 0x1p-60F}, {0x1.000002p0F}},
      {"fma.rn.f32 %f0, %f1, %f2, %f3;", {97.0F, 0x1.51d08p-7F, -0x1p-60F}, {1.0F}},
      {"fma.rn.f32 %f0, %f1, %f2, %f3;", {97.0F, 0x1.51d08p-7F, 0.0F}, {1.0F}},
      {"fma.rz.f32 %f0, %f1, %f2, %f3;", {97.0F, 0x1.51d08p-7F, 0x1p-60F}, {1.0F}},
      {"fma.rm.f32 %f0, %f1, %f2, %f3;", {-97.0F, 0x1.51d08p-7F, 0.0F}, {-0x1.000002p0F}},
      {"fma.rm.f32 %f0, %f1, %f2, %f3;", {1.0F, 1.0F, -0x1p-100F}, {0x1.fffffep-1F}},
      {"fma.rp.f32 %f0, %f1, %f2, %f3;", {1.0F, 1.0F, 0x1p-100F}, {0x1.000002p0F}},
      {"fma.rm.f32 %f0, %f1, %f2, %f3;", {0.5F, 252.0F, 0x1.8p23F}, {0x1.8000fcp23F}},
      {"fma.rm.f32 %f0, %f1, %f2, %f3;", {0x1.fffffep-1F, 1.0F, 0x1.8p23F}, {0x1.8p23F}},
      {"fma.rn.f32 %f0, %f1, %f2, %f3;", {1.0F, 1.0F, -1.0F}, {0.0F}},
      {"fma.rm.f32 %f0, %f1, %f2, %f3;", {1.0F, 1.0F, -1.0F}, {-0.0F}},
      {"fma.rn.f32 %f0, %f1, %f2, %f3;", {largest, 2.0F, -largest}, {largest}},
      {"fma.rn.f32 %f0, %f1, %f2, %f3;", {infinity, 0.0F, 1.0F}, {any_nan_f32}},
      {"fma.rn.f32 %f0, %f1, %f2, %f3;", {infinity, 1.0F, -infinity}, {any_nan_f32}},
      {"fma.rm.f64 %fd0, %fd1, %fd2, %fd3;", {1.0, 1.0, -0x1p-300}, {0x1.fffffffffffffp-1}},
      {"fma.rp.f64 %fd0, %fd1, %fd2, %fd3;", {1.0, 1.0, 0x1p-300}, {0x1.0000000000001p0}},
      {"fma.rz.f64 %fd0, %fd1, %fd2, %fd3;", {-1.0, 1.0, -0x1p-300}, {-1.0}},
  });
}

TEST(PtxFloat, ResultsAreSaturatedToTheUnitInterval) {
  expect_rows({
      {"add.sat.f32 %f0, %f1, %f2;", {1.0F, 0.5F}, {1.0F}},
      {"add.sat.f32 %f0, %f1, %f2;", {-1.0F, 0.5F}, {0.0F}},
      {"add.sat.f32 %f0, %f1, %f2;", {0.25F, 0.5F}, {0.75F}},
      {"add.sat.f32 %f0, %f1, %f2;", {nan, 0.5F}, {0.0F}},
      {"mul.sat.f32 %f0, %f1, %f2;", {infinity, 2.0F}, {1.0F}},
      {"fma.rn.sat.f32 %f0, %f1, %f2, %f3;", {2.0F, 2.0F, -4.5F}, {0.0F}},
      {"fma.rn.ftz.sat.f32 %f0, %f1, %f2, %f3;", {2.0F, 2.0F, 1.0F}, {1.0F}},
  });
}

TEST(PtxFloat, QuotientsAndRootsAreRounded) {
  expect_rows({
      {"div.rn.f32 %f0, %f1, %f2;", {1.0F, 3.0F}, {0x1.555556p-2F}},
      {"div.rz.f32 %f0, %f1, %f2;", {1.0F, 3.0F}, {0x1.555554p-2F}},
      {"div.rm.f32 %f0, %f1, %f2;", {-1.0F, 3.0F}, {-0x1.555556p-2F}},
      {"div.rp.f32 %f0, %f1, %f2;", {-1.0F, 3.0F}, {-0x1.555554p-2F}},
      {"div.rn.f32 %f0, %f1, %f2;", {0x1.8p-148F, 2.0F}, {0x1p-148F}},
      {"div.rn.f32 %f0, %f1, %f2;", {0x1p-149F, 2.0F}, {0.0F}},
      {"div.rn.f32 %f0, %f1, %f2;", {-1.0F, 0.0F}, {-infinity}},
      {"div.rn.f32 %f0, %f1, %f2;", {0.0F, -0.0F}, {any_nan_f32}},
      {"div.rn.f32 %f0, %f1, %f2;", {infinity, infinity}, {any_nan_f32}},
      {"div.rn.f32 %f0, %f1, %f2;", {-1.0F, infinity}, {-0.0F}},
      {"div.rn.f32 %f0, %f1, %f2;", {largest, 0.5F}, {infinity}},
      {"div.rn.f64 %fd0, %fd1, %fd2;", {2.0, 3.0}, {0x1.5555555555555p-1}},
      {"div.rn.f64 %fd0, %fd1, %fd2;", {1.0, 10.0}, {0x1.999999999999ap-4}},
      {"div.rp.f64 %fd0, %fd1, %fd2;", {2.0, 3.0}, {0x1.5555555555556p-1}},
      {"div.rn.f64 %fd0, %fd1, %fd2;", {1.0, -0.0}, {-infinity_f64}},
      {"rcp.rn.f32 %f0, %f1;", {3.0F}, {0x1.555556p-2F}},
      {"rcp.rz.f32 %f0, %f1;", {3.0F}, {0x1.555554p-2F}},
      {"rcp.rn.f32 %f0, %f1;", {-0.0F}, {-infinity}},
      {"rcp.rn.f32 %f0, %f1;", {-infinity}, {-0.0F}},
      {"rcp.rn.f64 %fd0, %fd1;", {3.0}, {0x1.5555555555555p-2}},
      {"rcp.rp.f64 %fd0, %fd1;", {3.0}, {0x1.5555555555556p-2}},
      {"sqrt.rn.f32 %f0, %f1;", {2.0F}, {0x1.6a09e6p0F}},
      {"sqrt.rp.f32 %f0, %f1;", {2.0F}, {0x1.6a09e8p0F}},
      {"sqrt.rm.f32 %f0, %f1;", {3.0F}, {0x1.bb67aep0F}},
      {"sqrt.rn.f32 %f0, %f1;", {0x1p-149F}, {0x1.6a09e6p-75F}},
      {"sqrt.rn.f32 %f0, %f1;", {-0.0F}, {-0.0F}},
      {"sqrt.rn.f32 %f0, %f1;", {-1.0F}, {any_nan_f32}},
      {"sqrt.rn.f32 %f0, %f1;", {infinity}, {infinity}},
      {"sqrt.rn.f64 %fd0, %fd1;", {2.0}, {0x1.6a09e667f3bcdp0}},
      {"sqrt.rz.f64 %fd0, %fd1;", {2.0}, {0x1.6a09e667f3bccp0}},
      {"sqrt.rn.f64 %fd0, %fd1;", {-0x1p-1074}, {any_nan_f64}},
  });
}

TEST(PtxFloat, ExtremesPreferNumbersToNan) {
  expect_rows({
      {"max.f32 %f0, %f1, %f2;", {nan, -3.0F}, {-3.0F}},
      {"max.f32 %f0, %f1, %f2;", {-3.0F, -nan}, {-3.0F}},
      {"max.f32 %f0, %f1, 0fFF800000;", {nan}, {-infinity}},
      {"max.f32 %f0, %f1, %f2;", {nan, nan}, {any_nan_f32}},
      {"min.f32 %f0, %f1, %f2;", {nan, infinity}, {infinity}},
      {"min.f32 %f0, %f1, %f2;", {nan, nan}, {any_nan_f32}},
      {"max.f32 %f0, %f1, %f2;", {-0.0F, 0.0F}, {0.0F}},
      {"max.f32 %f0, %f1, %f2;", {0.0F, -0.0F}, {0.0F}},
      {"min.f32 %f0, %f1, %f2;", {-0.0F, 0.0F}, {-0.0F}},
      {"min.f32 %f0, %f1, %f2;", {0.0F, -0.0F}, {-0.0F}},
      {"max.f32 %f0, %f1, %f2;", {-2.0F, -1.0F}, {-1.0F}},
      {"min.f32 %f0, %f1, %f2;", {-2.0F, 1.0F}, {-2.0F}},
      {"max.NaN.f32 %f0, %f1, %f2;", {nan, 1.0F}, {any_nan_f32}},
      {"min.NaN.f32 %f0, %f1, %f2;", {1.0F, nan}, {any_nan_f32}},
      {"max.NaN.f32 %f0, %f1, %f2;", {1.0F, 2.0F}, {2.0F}},
      {"max.f64 %fd0, %fd1, 0d0000000000000000;", {nan_f64}, {0.0}},
      {"max.f64 %fd0, %fd1, %fd2;", {-0.0, 0.0}, {0.0}},
      {"min.f64 %fd0, %fd1, %fd2;", {0.0, -0.0}, {-0.0}},
      {"min.f64 %fd0, %fd1, %fd2;", {nan_f64, nan_f64}, {any_nan_f64}},
      {"max.f64 %fd0, %fd1, %fd2;", {1.0, 0x1.0000000000001p0}, {0x1.0000000000001p0}},
  });
}

TEST(PtxFloat, SignsAreTakenAndGiven) {
  expect_rows({
      {"abs.f32 %f0, %f1;", {-0.0F}, {0.0F}},
      {"abs.f32 %f0, %f1;", {-infinity}, {infinity}},
      {"abs.f32 %f0, %f1;", {nan}, {any_nan_f32}},
      {"abs.f64 %fd0, %fd1;", {-2.5}, {2.5}},
      {"neg.f32 %f0, %f1;", {0.0F}, {-0.0F}},
      {"neg.f32 %f0, %f1;", {-1.5F}, {1.5F}},
      {"neg.f32 %f0, %f1;", {nan}, {any_nan_f32}},
      {"neg.f64 %fd0, %fd1;", {0.0}, {-0.0}},
      {"copysign.f32 %f0, %f1, %f2;", {-1.0F, 2.5F}, {-2.5F}},
      {"copysign.f32 %f0, %f1, %f2;", {1.0F, -2.5F}, {2.5F}},
      {"copysign.f32 %f0, %f1, %f2;", {-0.0F, infinity}, {-infinity}},
      {"copysign.f64 %fd0, %fd1, %fd2;", {-1.0, 0.0}, {-0.0}},
      {"copysign.f64 %fd0, %fd1, %fd2;", {-nan_f64, -2.5}, {-2.5}},
  });
}

}  // namespace
}  // namespace trigram::ptx
