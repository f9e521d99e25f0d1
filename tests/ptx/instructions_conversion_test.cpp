// Conversions, as the PTX ISA defines them.
#include <gtest/gtest.h>

#include "tests/ptx/one_instruction.hpp"

namespace trigram::ptx {
namespace {

TEST(PtxConversion, IntegersAreCutAndExtended) {
  expect_rows({
      {"cvt.u64.u32 %rd0, %r1;", {-1}, {0xffffffff}},
      {"cvt.s64.s32 %rd0, %r1;", {-1}, {-1}},
      {"cvt.s64.s16 %rd0, %rs1;", {0x8000}, {-32768}},
      {"cvt.u64.u16 %rd0, %rs1;", {0x8000}, {0x8000}},
      {"cvt.s64.s8 %rd0, %rs1;", {0x80}, {-128}},
      {"cvt.u64.u8 %rd0, %rs1;", {0x1ff}, {0xff}},
      {"cvt.u32.u64 %r0, %rd1;", {0x123456789abcdef0}, {0x9abcdef0}},
      {"cvt.u32.u16 %r0, %rs1;", {0xffff}, {0xffff}},
      {"cvt.s32.s16 %r0, %rs1;", {0xffff}, {-1}},
      {"cvt.s32.s8 %r0, %rs1;", {0x80}, {-128}},
      {"cvt.u32.u8 %r0, %rs1;", {0x180}, {0x80}},
      {"cvt.s32.s8 %r0, %r1;", {0x12345680}, {-128}},
      {"cvt.s32.s16 %r0, %r1;", {0x12348000}, {-32768}},
      {"cvt.u32.u8 %r0, %r1;", {0x123456ff}, {0xff}},
      {"cvt.u16.u32 %rs0, %r1;", {0x12345678}, {0x5678}},
      {"cvt.u16.u64 %rs0, %rd1;", {0x123456789abcdef0}, {0xdef0}},
      {"cvt.u16.u8 %rs0, %rs1;", {0xabcd}, {0xcd}},
      {"cvt.s16.s8 %rs0, %rs1;", {0xab80}, {0xff80}},
      {"cvt.s16.s8 %rs0, %rs1;", {0xab7f}, {0x7f}},
      {"cvt.s16.s8 %rs0, %r1;", {0x12345680}, {0xff80}},
      {"cvt.u8.u32 %r0, %r1;", {0x12345680}, {0x80}},
      {"cvt.s8.s32 %r0, %r1;", {0x12345680}, {0xffffff80}},
      {"cvt.u8.u16 %rs0, %rs1;", {0x5680}, {0x80}},
      {"cvt.s8.s16 %rs0, %rs1;", {0x5680}, {0xff80}},
      {"cvt.u16.u32 %r0, %r1;", {0x1234ffff}, {0xffff}},
      {"cvt.s16.s32 %r0, %r1;", {0x1234ffff}, {-1}},
  });
}

TEST(PtxConversion, IntegersSaturateWhereAskedTo) {
  expect_rows({
      {"cvt.sat.u8.u32 %r0, %r1;", {256}, {255}},
      {"cvt.sat.u8.s32 %r0, %r1;", {-5}, {0}},
      {"cvt.sat.u8.s32 %rs0, %r1;", {300}, {255}},
      {"cvt.sat.s8.s32 %r0, %r1;", {128}, {127}},
      {"cvt.sat.s8.s32 %r0, %r1;", {-200}, {-128}},
      {"cvt.sat.s8.s32 %r0, %r1;", {-3}, {-3}},
      {"cvt.sat.s16.s32 %rs0, %r1;", {40000}, {32767}},
      {"cvt.sat.u16.s32 %rs0, %r1;", {-1}, {0}},
      {"cvt.sat.s32.s64 %r0, %rd1;", {0x80000000}, {0x7fffffff}},
      {"cvt.sat.s32.s64 %r0, %rd1;", {most_negative}, {0x80000000}},
      {"cvt.sat.u32.u64 %r0, %rd1;", {0x100000000}, {0xffffffff}},
      {"cvt.sat.u32.s64 %r0, %rd1;", {-1}, {0}},
      {"cvt.sat.s32.u32 %r0, %r1;", {-1}, {0x7fffffff}},
      {"cvt.sat.u32.s32 %r0, %r1;", {-1}, {0}},
  });
}

TEST(PtxConversion, FloatsBecomeIntegersInFourWays) {
  expect_rows({
      {"cvt.rni.s32.f32 %r0, %f1;", {2.5F}, {2}},
      {"cvt.rni.s32.f32 %r0, %f1;", {3.5F}, {4}},
      {"cvt.rni.s32.f32 %r0, %f1;", {-2.5F}, {-2}},
      {"cvt.rni.s32.f32 %r0, %f1;", {0x1.400002p1F}, {3}},
      {"cvt.rzi.s32.f32 %r0, %f1;", {-2.9F}, {-2}},
      {"cvt.rzi.s32.f32 %r0, %f1;", {2.9F}, {2}},
      {"cvt.rmi.s32.f32 %r0, %f1;", {-2.1F}, {-3}},
      {"cvt.rmi.s32.f32 %r0, %f1;", {2.9F}, {2}},
      {"cvt.rpi.s32.f32 %r0, %f1;", {-2.9F}, {-2}},
      {"cvt.rpi.s32.f32 %r0, %f1;", {2.1F}, {3}},
      {"cvt.rpi.u32.f32 %r0, %f1;", {0x1p-149F}, {1}},
      {"cvt.rpi.ftz.u32.f32 %r0, %f1;", {0x1p-149F}, {0}},
      {"cvt.rmi.ftz.s32.f32 %r0, %f1;", {-0x1p-149F}, {0}},
      {"cvt.rmi.s32.f32 %r0, %f1;", {-0x1p-149F}, {-1}},
      {"cvt.rpi.u32.f32 %r0, %f1;", {-0.5F}, {0}},
      {"cvt.rpi.u32.f32 %r0, %f1;", {0x1.fffffep30F}, {0x7fffff80}},
      {"cvt.rzi.u32.f32 %r0, %f1;", {0x1.8p31F}, {0xc0000000}},
      {"cvt.rzi.s64.f64 %rd0, %fd1;", {-0x1.8p40}, {-0x18000000000}},
      {"cvt.rzi.s64.f64 %rd0, %fd1;", {-1.999}, {-1}},
      {"cvt.rzi.u32.f64 %r0, %fd1;", {4294967295.9}, {0xffffffff}},
      {"cvt.rzi.u64.f64 %rd0, %fd1;", {0x1.8p63}, {0xc000000000000000}},
      {"cvt.rni.s64.f64 %rd0, %fd1;", {0.5}, {0}},
      {"cvt.rni.s64.f64 %rd0, %fd1;", {1.5}, {2}},
      {"cvt.rpi.s64.f64 %rd0, %fd1;", {0x1p-1074}, {1}},
      {"cvt.rmi.s32.f64 %r0, %fd1;", {-0.25}, {-1}},
      {"cvt.rzi.s64.f32 %rd0, %f1;", {-0x1p40F}, {-0x10000000000}},
      {"cvt.rzi.u64.f32 %rd0, %f1;", {0x1p63F}, {most_negative}},
      {"cvt.rzi.u16.f32 %rs0, %f1;", {65535.5F}, {0xffff}},
      {"cvt.rzi.s16.f32 %rs0, %f1;", {-3.5F}, {0xfffd}},
  });
}

TEST(PtxConversion, FloatsBeyondTheRangeGoToItsEnd) {
  expect_rows({
      {"cvt.rzi.s32.f32 %r0, %f1;", {0x1p31F}, {0x7fffffff}},
      {"cvt.rzi.s32.f32 %r0, %f1;", {-0x1p40F}, {0x80000000}},
      {"cvt.rzi.s32.f32 %r0, %f1;", {infinity}, {0x7fffffff}},
      {"cvt.rzi.s32.f32 %r0, %f1;", {-infinity}, {0x80000000}},
      {"cvt.rpi.u32.f32 %r0, %f1;", {0x1p32F}, {0xffffffff}},
      {"cvt.rpi.u32.f32 %r0, %f1;", {-1.0F}, {0}},
      {"cvt.rzi.u32.f32 %r0, %f1;", {-infinity}, {0}},
      {"cvt.rzi.u32.f64 %r0, %fd1;", {-3.0}, {0}},
      {"cvt.rzi.u32.f64 %r0, %fd1;", {1e300}, {0xffffffff}},
      {"cvt.rzi.s64.f64 %rd0, %fd1;", {0x1p63}, {most_positive}},
      {"cvt.rzi.s64.f64 %rd0, %fd1;", {-infinity_f64}, {most_negative}},
      {"cvt.rzi.u64.f64 %rd0, %fd1;", {0x1p64}, {-1}},
      {"cvt.rzi.u64.f64 %rd0, %fd1;", {-1.0}, {0}},
      {"cvt.rni.u8.f32 %r0, %f1;", {300.0F}, {255}},
      {"cvt.rni.u8.f32 %r0, %f1;", {-1.0F}, {0}},
      {"cvt.rni.s8.f32 %r0, %f1;", {-300.0F}, {-128}},
      {"cvt.rzi.u16.f32 %rs0, %f1;", {1e6F}, {0xffff}},
      {"cvt.rzi.s16.f32 %rs0, %f1;", {1e6F}, {0x7fff}},
      // NaN becomes 0, but the most negative number where either side has 64 bits.
      {"cvt.rzi.s32.f32 %r0, %f1;", {nan}, {0}},
      {"cvt.rpi.u32.f32 %r0, %f1;", {-nan}, {0}},
      {"cvt.rzi.u16.f32 %rs0, %f1;", {nan}, {0}},
      {"cvt.rzi.s64.f64 %rd0, %fd1;", {nan_f64}, {most_negative}},
      {"cvt.rzi.u64.f64 %rd0, %fd1;", {nan_f64}, {most_negative}},
      {"cvt.rzi.s64.f32 %rd0, %f1;", {nan}, {most_negative}},
      {"cvt.rzi.u64.f32 %rd0, %f1;", {nan}, {most_negative}},
      {"cvt.rzi.u32.f64 %r0, %fd1;", {nan_f64}, {0x80000000}},
      {"cvt.rzi.s32.f64 %r0, %fd1;", {nan_f64}, {0x80000000}},
  });
}

TEST(PtxConversion, IntegersBecomeFloats) {
  expect_rows({
      {"cvt.rn.f32.s32 %f0, %r1;", {-7}, {-7.0F}},
      {"cvt.rn.f32.s32 %f0, %r1;", {16777217}, {16777216.0F}},
      {"cvt.rn.f32.s32 %f0, %r1;", {16777219}, {16777220.0F}},
      {"cvt.rz.f32.s32 %f0, %r1;", {-16777219}, {-16777218.0F}},
      {"cvt.rm.f32.s32 %f0, %r1;", {-16777217}, {-16777218.0F}},
      {"cvt.rp.f32.s32 %f0, %r1;", {16777217}, {16777218.0F}},
      {"cvt.rn.f32.u32 %f0, %r1;", {-1}, {0x1p32F}},
      {"cvt.rz.f32.u32 %f0, %r1;", {-1}, {0x1.fffffep31F}},
      {"cvt.rn.f32.s16 %f0, %rs1;", {0x8000}, {-32768.0F}},
      {"cvt.rn.f32.u16 %f0, %rs1;", {0x8000}, {32768.0F}},
      {"cvt.rn.f32.s8 %f0, %rs1;", {0x1ff}, {-1.0F}},
      {"cvt.rn.f32.u8 %f0, %rs1;", {0x1ff}, {255.0F}},
      {"cvt.rn.f32.u64 %f0, %rd1;", {-1}, {0x1p64F}},
      // Just above halfway, which a step over f64 would lose.
      {"cvt.rn.f32.u64 %f0, %rd1;", {0x8000008000000001}, {0x1.000002p63F}},
      {"cvt.rn.f32.s64 %f0, %rd1;", {0x4000004000000001}, {0x1.000002p62F}},
      {"cvt.rn.f64.s32 %fd0, %r1;", {0x80000000}, {-0x1p31}},
      {"cvt.rn.f64.u32 %fd0, %r1;", {0x80000000}, {0x1p31}},
      {"cvt.rn.f64.s64 %fd0, %rd1;", {0x20000000000001}, {0x1p53}},
      {"cvt.rn.f64.s64 %fd0, %rd1;", {most_negative}, {-0x1p63}},
      {"cvt.rn.f64.u64 %fd0, %rd1;", {-1}, {0x1p64}},
      {"cvt.rz.f64.u64 %fd0, %rd1;", {-1}, {0x1.fffffffffffffp63}},
      {"cvt.rn.f32.s32 %f0, %r1;", {0}, {0.0F}},
  });
}

TEST(PtxConversion, BetweenF32AndF64) {
  expect_rows({
      {"cvt.f64.f32 %fd0, %f1;", {-0.1F}, {-0x1.99999ap-4}},
      {"cvt.f64.f32 %fd0, %f1;", {0x1p-149F}, {0x1p-149}},
      {"cvt.ftz.f64.f32 %fd0, %f1;", {-0x1p-149F}, {-0.0}},
      {"cvt.f64.f32 %fd0, %f1;", {-infinity}, {-infinity_f64}},
      {"cvt.f64.f32 %fd0, %f1;", {nan}, {any_nan_f64}},
      {"cvt.f64.f32 %fd0, %f1;", {-0.0F}, {-0.0}},
      {"cvt.rn.f32.f64 %f0, %fd1;", {0x1.000001p0}, {1.0F}},
      {"cvt.rn.f32.f64 %f0, %fd1;", {0x1.000003p0}, {0x1.000004p0F}},
      {"cvt.rn.f32.f64 %f0, %fd1;", {0x1.0000010000001p0}, {0x1.000002p0F}},
      {"cvt.rz.f32.f64 %f0, %fd1;", {-0x1.000001fp0}, {-1.0F}},
      {"cvt.rm.f32.f64 %f0, %fd1;", {-0x1.0000000000001p0}, {-0x1.000002p0F}},
      {"cvt.rp.f32.f64 %f0, %fd1;", {0x1.0000000000001p0}, {0x1.000002p0F}},
      {"cvt.rn.f32.f64 %f0, %fd1;", {0x1.ffffffp127}, {infinity}},
      {"cvt.rn.f32.f64 %f0, %fd1;", {0x1.fffffefffffffp127}, {0x1.fffffep127F}},
      {"cvt.rz.f32.f64 %f0, %fd1;", {1e300}, {0x1.fffffep127F}},
      {"cvt.rp.f32.f64 %f0, %fd1;", {-1e300}, {-0x1.fffffep127F}},
      {"cvt.rn.f32.f64 %f0, %fd1;", {0x1.8p-149}, {0x1p-148F}},
      {"cvt.rn.f32.f64 %f0, %fd1;", {-0x1p-150}, {-0.0F}},
      {"cvt.rn.ftz.f32.f64 %f0, %fd1;", {-0x1p-127}, {-0.0F}},
      {"cvt.rn.f32.f64 %f0, %fd1;", {nan_f64}, {any_nan_f32}},
  });
}

TEST(PtxConversion, FloatsBecomeWholeOrSaturated) {
  expect_rows({
      {"cvt.rni.f32.f32 %f0, %f1;", {2.5F}, {2.0F}},
      {"cvt.rni.f32.f32 %f0, %f1;", {-0.5F}, {-0.0F}},
      {"cvt.rzi.f32.f32 %f0, %f1;", {-1.75F}, {-1.0F}},
      {"cvt.rmi.f32.f32 %f0, %f1;", {-1.25F}, {-2.0F}},
      {"cvt.rpi.f32.f32 %f0, %f1;", {-0.25F}, {-0.0F}},
      {"cvt.rpi.f32.f32 %f0, %f1;", {0x1.8p100F}, {0x1.8p100F}},
      {"cvt.rpi.f32.f32 %f0, %f1;", {0x1p-149F}, {1.0F}},
      {"cvt.rpi.ftz.f32.f32 %f0, %f1;", {0x1p-149F}, {0.0F}},
      {"cvt.rmi.f64.f64 %fd0, %fd1;", {1.75}, {1.0}},
      {"cvt.rni.f64.f64 %fd0, %fd1;", {3.5}, {4.0}},
      {"cvt.rzi.f64.f64 %fd0, %fd1;", {-infinity_f64}, {-infinity_f64}},
      {"cvt.rpi.f64.f64 %fd0, %fd1;", {1.25}, {2.0}},
      {"cvt.sat.f32.f32 %f0, %f1;", {1.5F}, {1.0F}},
      {"cvt.sat.f32.f32 %f0, %f1;", {-1.5F}, {0.0F}},
      {"cvt.sat.f32.f32 %f0, %f1;", {0.25F}, {0.25F}},
      {"cvt.sat.f32.f32 %f0, %f1;", {0x1p-149F}, {0x1p-149F}},
      {"cvt.ftz.sat.f32.f32 %f0, %f1;", {0x1p-149F}, {0.0F}},
      {"cvt.sat.f32.f32 %f0, %f1;", {infinity}, {1.0F}},
      {"cvt.sat.f32.f32 %f0, %f1;", {nan}, {0.0F}},
      {"cvt.sat.f32.f32 %f0, %f1;", {-nan}, {0.0F}},
      {"cvt.ftz.f32.f32 %f0, %f1;", {-0x1p-127F}, {-0.0F}},
      {"cvt.rn.sat.f32.f64 %f0, %fd1;", {1.5}, {1.0F}},
  });
}

TEST(PtxConversion, HalvesOfAFloat) {
  expect_rows({
      {"cvt.f32.f16 %f0, %rs1;", {0x3c00}, {1.0F}},
      {"cvt.f32.f16 %f0, %rs1;", {0x8001}, {-0x1p-24F}},
      {"cvt.f32.f16 %f0, %rs1;", {0x03ff}, {0x1.ff8p-15F}},
      {"cvt.f32.f16 %f0, %rs1;", {0x7bff}, {65504.0F}},
      {"cvt.f32.f16 %f0, %rs1;", {0xfc00}, {-infinity}},
      {"cvt.f32.f16 %f0, %rs1;", {0x7c01}, {any_nan_f32}},
      {"cvt.f32.f16 %f0, %rs1;", {0x8000}, {-0.0F}},
      {"cvt.rn.f16.f32 %rs0, %f1;", {0x1.002p0F}, {0x3c00}},
      {"cvt.rn.f16.f32 %rs0, %f1;", {0x1.006p0F}, {0x3c02}},
      {"cvt.rn.f16.f32 %rs0, %f1;", {0x1.002002p0F}, {0x3c01}},
      {"cvt.rn.f16.f32 %rs0, %f1;", {65519.996F}, {0x7bff}},
      {"cvt.rn.f16.f32 %rs0, %f1;", {-65520.0F}, {0xfc00}},
      {"cvt.rn.f16.f32 %rs0, %f1;", {0x1p-25F}, {0}},
      {"cvt.rn.f16.f32 %rs0, %f1;", {0x1.8p-24F}, {2}},
      {"cvt.rn.f16.f32 %rs0, %f1;", {-0x1.000002p-25F}, {0x8001}},
      {"cvt.rn.f16.f32 %rs0, %f1;", {0x1.ffcp-15F}, {0x400}},
      {"cvt.rn.f16.f32 %rs0, %f1;", {nan}, {any_nan_f16}},
      {"cvt.rn.f16.f32 %rs0, %f1;", {infinity}, {0x7c00}},
      {"cvt.rz.f16.f32 %rs0, %f1;", {1e6F}, {0x7bff}},
      {"cvt.rz.f16.f32 %rs0, %f1;", {-0x1.ffep0F}, {0xbfff}},
      {"cvt.f32.bf16 %f0, %rs1;", {0xc040}, {-3.0F}},
      {"cvt.f32.bf16 %f0, %rs1;", {0x0001}, {0x1p-133F}},
      {"cvt.f32.bf16 %f0, %rs1;", {0x7f81}, {any_nan_f32}},
      {"cvt.rn.bf16.f32 %rs0, %f1;", {0x1.01p0F}, {0x3f80}},
      {"cvt.rn.bf16.f32 %rs0, %f1;", {0x1.03p0F}, {0x3f82}},
      {"cvt.rn.bf16.f32 %rs0, %f1;", {0x1.010002p0F}, {0x3f81}},
      {"cvt.rn.bf16.f32 %rs0, %f1;", {0x1.fep127F}, {0x7f7f}},
      {"cvt.rn.bf16.f32 %rs0, %f1;", {0x1.ffp127F}, {0x7f80}},
      {"cvt.rn.bf16.f32 %rs0, %f1;", {-0x1.8p-133F}, {0x8002}},
      {"cvt.rn.bf16.f32 %rs0, %f1;", {nan}, {any_nan_bf16}},
      {"cvt.rn.bf16.f32 %rs0, %f1;", {0x7f800001}, {any_nan_bf16}},
      {"cvt.rz.bf16.f32 %rs0, %f1;", {0x1.ffp127F}, {0x7f7f}},
      {"cvt.rn.f16.s32 %rs0, %r1;", {2049}, {0x6800}},
  });
}

}  // namespace
}  // namespace trigram::ptx
