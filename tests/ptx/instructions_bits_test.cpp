// Instructions on bits, as the PTX ISA defines them.
#include <gtest/gtest.h>

#include <array>

#include "tests/ptx/one_instruction.hpp"

namespace trigram::ptx {
namespace {

TEST(PtxBits, LogicIsBitByBit) {
  expect_rows({
      {"and.b16 %rs0, %rs1, %rs2;", {0xf0f0, 0xff00}, {0xf000}},
      {"and.b32 %r0, %r1, %r2;", {0xf0f0f0f0, 0xffff0000}, {0xf0f00000}},
      {"and.b32 %r0, %r1, -4;", {0xffffffff}, {0xfffffffc}},
      {"and.b64 %rd0, %rd1, -4294967296;", {-1}, {0xffffffff00000000}},
      {"or.b16 %rs0, %rs1, %rs2;", {0xf0f0, 0xff00}, {0xfff0}},
      {"or.b32 %r0, %r1, %r2;", {0xf0f0f0f0, 0xffff0000}, {0xfffff0f0}},
      {"or.b64 %rd0, %rd1, %rd2;", {0x100000000, 1}, {0x100000001}},
      {"xor.b16 %rs0, %rs1, -1;", {0xf0f0}, {0x0f0f}},
      {"xor.b32 %r0, %r1, -2147483648;", {1}, {0x80000001}},
      {"xor.b64 %rd0, %rd1, %rd2;", {0xff00000000000001, 1}, {0xff00000000000000}},
      {"not.b16 %rs0, %rs1;", {0xf0f0}, {0x0f0f}},
      {"not.b32 %r0, %r1;", {0}, {0xffffffff}},
      {"not.b64 %rd0, %rd1;", {1}, {-2}},
      {"cnot.b32 %r0, %r1;", {0}, {1}},
      {"cnot.b32 %r0, %r1;", {2}, {0}},
  });
}

TEST(PtxBits, ShiftsBeyondTheWidthShiftAllOut) {
  expect_rows({
      {"shl.b32 %r0, %r1, %r2;", {0x80000001, 4}, {0x10}},
      {"shl.b32 %r0, %r1, %r2;", {3, 31}, {0x80000000}},
      {"shl.b32 %r0, %r1, %r2;", {3, 32}, {0}},
      {"shl.b32 %r0, %r1, %r2;", {3, 33}, {0}},
      {"shl.b32 %r0, %r1, %r2;", {3, 64}, {0}},
      {"shl.b32 %r0, %r1, %r2;", {3, 0x80000000}, {0}},
      {"shl.b32 %r0, 1, %r1;", {5}, {32}},
      {"shl.b64 %rd0, %rd1, %r2;", {3, 32}, {0x300000000}},
      {"shl.b64 %rd0, %rd1, %r2;", {3, 63}, {0x8000000000000000}},
      {"shl.b64 %rd0, %rd1, %r2;", {3, 64}, {0}},
      {"shl.b64 %rd0, %rd1, %r2;", {3, 0x80000000}, {0}},
      {"shl.b16 %rs0, %rs1, %r2;", {3, 15}, {0x8000}},
      {"shl.b16 %rs0, %rs1, %r2;", {3, 16}, {0}},
      {"shl.b16 %rs0, %rs1, %r2;", {3, 32}, {0}},
      {"shr.u32 %r0, %r1, %r2;", {0x80000000, 31}, {1}},
      {"shr.u32 %r0, %r1, %r2;", {0x80000000, 32}, {0}},
      {"shr.u32 %r0, %r1, %r2;", {0xffffffff, 0x80000000}, {0}},
      {"shr.b32 %r0, %r1, %r2;", {0x80000000, 4}, {0x08000000}},
      {"shr.s32 %r0, %r1, %r2;", {0x80000000, 4}, {0xf8000000}},
      {"shr.s32 %r0, %r1, %r2;", {0x80000000, 31}, {-1}},
      {"shr.s32 %r0, %r1, %r2;", {0x80000000, 32}, {-1}},
      {"shr.s32 %r0, %r1, %r2;", {0x80000000, 33}, {-1}},
      {"shr.s32 %r0, %r1, %r2;", {0x7fffffff, 64}, {0}},
      {"shr.s32 %r0, %r1, %r2;", {-8, 0x80000000}, {-1}},
      {"shr.u64 %rd0, %rd1, %r2;", {0x8000000000000000, 63}, {1}},
      {"shr.u64 %rd0, %rd1, %r2;", {-1, 32}, {0xffffffff}},
      {"shr.u64 %rd0, %rd1, %r2;", {-1, 64}, {0}},
      {"shr.b64 %rd0, %rd1, %r2;", {-1, 60}, {15}},
      {"shr.s64 %rd0, %rd1, %r2;", {0x8000000000000000, 33}, {0xffffffffc0000000}},
      {"shr.s64 %rd0, %rd1, %r2;", {0x8000000000000000, 64}, {-1}},
      {"shr.s64 %rd0, %rd1, %r2;", {-5, 0x80000000}, {-1}},
      {"shr.u16 %rs0, %rs1, %r2;", {0x8000, 15}, {1}},
      {"shr.u16 %rs0, %rs1, %r2;", {0xffff, 16}, {0}},
      {"shr.s16 %rs0, %rs1, %r2;", {0x8000, 4}, {0xf800}},
      {"shr.s16 %rs0, %rs1, %r2;", {0x8000, 40}, {0xffff}},
      {"shr.u16 %rs0, %rs1, 8;", {0xabcd}, {0xab}},
  });
}

TEST(PtxBits, FunnelShiftsTakeTwoWords) {
  expect_rows({
      {"shf.l.wrap.b32 %r0, %r1, %r2, %r3;", {0x89abcdef, 0x01234567, 8}, {0x23456789}},
      {"shf.l.wrap.b32 %r0, %r1, %r2, %r3;", {0x89abcdef, 0x01234567, 32}, {0x01234567}},
      {"shf.l.wrap.b32 %r0, %r1, %r2, %r3;", {0x89abcdef, 0x01234567, 0}, {0x01234567}},
      {"shf.l.clamp.b32 %r0, %r1, %r2, %r3;", {0x89abcdef, 0x01234567, 40}, {0x89abcdef}},
      {"shf.r.wrap.b32 %r0, %r1, %r2, %r3;", {0x89abcdef, 0x01234567, 8}, {0x6789abcd}},
      {"shf.r.wrap.b32 %r0, %r1, %r2, %r3;", {0x89abcdef, 0x01234567, 32}, {0x89abcdef}},
      {"shf.r.clamp.b32 %r0, %r1, %r2, %r3;", {0x89abcdef, 0x01234567, 0x80000000}, {0x01234567}},
      {"shf.l.wrap.b32 %r0, %r1, %r1, 13;", {0x80000001}, {0x3000}},
  });
}

TEST(PtxBits, PermutedBytesAreCopiedOrTheirSigns) {
  expect_rows({
      {"prmt.b32 %r0, %r1, %r2, 0x7531;", {0x33221100, 0x77665544}, {0x77553311}},
      {"prmt.b32 %r0, %r1, %r2, %r3;", {0x33221100, 0x77665544, 0x0123}, {0x00112233}},
      {"prmt.b32 %r0, %r1, %r2, 13328;", {0x33221100, 0x77665544}, {0x33441100}},
      {"prmt.b32 %r0, %r1, 0, 0x4140;", {0x33221180, 0}, {0x00110080}},
      {"prmt.b32 %r0, %r1, %r2, 0x3340U;", {0x33221100, 0x77665544}, {0x33334400}},
      {"prmt.b32 %r0, %r1, %r2, %r3;", {0x83027f80, 0, 0xba98}, {0xff0000ff}},
      {"prmt.b32 %r0, %r1, %r2, %r3;", {0, 0x80ff7f00, 0xfedc}, {0xffff0000}},
      {"prmt.b32 %r0, %r1, %r2, %r3;", {0x33221100, 0x77665544, 0xffff3210}, {0x33221100}},
  });
}

/// What the eight source bytes 0 to 7 give in a mode, for each of the values of the control's last two bits.
void expect_mode(const std::string& mode, const std::array<std::uint32_t, 4>& expected) {
  const std::string body = "prmt.b32." + mode + " %r0, %r1, %r2, %r3;";
  for (std::uint32_t control = 0; control < 4; ++control) {
    expect_rows({{body, {0x03020100, 0x07060504, control}, {expected[control]}},
                 {body, {0x03020100, 0x07060504, control | 0xfffffffc}, {expected[control]}}});
  }
}

TEST(PtxBits, PermutationsHaveSixModes) {
  expect_mode("f4e", {0x03020100, 0x04030201, 0x05040302, 0x06050403});
  expect_mode("b4e", {0x05060700, 0x06070001, 0x07000102, 0x00010203});
  expect_mode("rc8", {0x00000000, 0x01010101, 0x02020202, 0x03030303});
  expect_mode("ecl", {0x03020100, 0x03020101, 0x03020202, 0x03030303});
  expect_mode("ecr", {0x00000000, 0x01010100, 0x02020100, 0x03020100});
  expect_mode("rc16", {0x01000100, 0x03020302, 0x01000100, 0x03020302});
}

TEST(PtxBits, FieldsAreInsertedAsFarAsTheyFit) {
  expect_rows({
      {"bfi.b32 %r0, %r1, %r2, %r3, %r4;", {0xff, 0, 4, 4}, {0xf0}},
      {"bfi.b32 %r0, %r1, %r2, %r3, %r4;", {0, 0xffffffff, 8, 8}, {0xffff00ff}},
      {"bfi.b32 %r0, %r1, %r2, %r3, %r4;", {0xabc, 0x11111111, 28, 8}, {0xc1111111}},
      {"bfi.b32 %r0, %r1, %r2, %r3, %r4;", {-1, 0x11111111, 32, 4}, {0x11111111}},
      {"bfi.b32 %r0, %r1, %r2, %r3, %r4;", {-1, 0x11111111, 0, 0}, {0x11111111}},
      {"bfi.b32 %r0, %r1, %r2, %r3, %r4;", {0x12345678, 0, 0, 32}, {0x12345678}},
      {"bfi.b32 %r0, %r1, %r2, %r3, %r4;", {0x12345678, 0, 0, 255}, {0x12345678}},
      {"bfi.b32 %r0, %r1, %r2, %r3, %r4;", {0xff, 0, 0x104, 0x104}, {0xf0}},
      {"bfi.b32 %r0, %r1, %r2, 31, 1;", {1, 0}, {0x80000000}},
      {"bfi.b32 %r0, %r1, %r2, 16, 16;", {0xabcd, 0x12345678}, {0xabcd5678}},
      {"bfi.b64 %rd0, %rd1, %rd2, 32, 32;", {0x89abcdef, 0x01234567}, {0x89abcdef01234567}},
      {"bfi.b64 %rd0, %rd1, %rd2, %r3, %r4;", {-1, 0, 60, 8}, {0xf000000000000000}},
      {"bfi.b64 %rd0, %rd1, %rd2, %r3, %r4;", {-1, 5, 64, 8}, {5}},
      {"bfi.b64 %rd0, %rd1, %rd2, %r3, %r4;", {-1, 5, 3, 0}, {5}},
      {"bfi.b64 %rd0, %rd1, %rd2, %r3, %r4;", {0x123456789abcdef0, 0, 0, 64}, {0x123456789abcdef0}},
  });
}

TEST(PtxBits, FieldsAreExtractedWithTheirSign) {
  expect_rows({
      {"bfe.u32 %r0, %r1, %r2, %r3;", {0x12345678, 8, 8}, {0x56}},
      {"bfe.s32 %r0, %r1, %r2, %r3;", {0x12348678, 8, 8}, {0xffffff86}},
      {"bfe.s32 %r0, %r1, %r2, %r3;", {0x12345678, 8, 8}, {0x56}},
      {"bfe.u32 %r0, %r1, %r2, %r3;", {0x12345678, 8, 0}, {0}},
      {"bfe.s32 %r0, %r1, %r2, %r3;", {-1, 8, 0}, {0}},
      {"bfe.u32 %r0, %r1, %r2, %r3;", {0xf2345678, 28, 8}, {0xf}},
      {"bfe.s32 %r0, %r1, %r2, %r3;", {0x72345678, 28, 8}, {7}},
      {"bfe.s32 %r0, %r1, %r2, %r3;", {0x92345678, 28, 8}, {0xfffffff9}},
      {"bfe.u32 %r0, %r1, %r2, %r3;", {0xf2345678, 40, 8}, {0}},
      {"bfe.s32 %r0, %r1, %r2, %r3;", {0xf2345678, 40, 8}, {-1}},
      {"bfe.u32 %r0, %r1, %r2, %r3;", {0xf2345678, 0, 32}, {0xf2345678}},
      {"bfe.u32 %r0, %r1, %r2, %r3;", {0x12345678, 0x108, 0x108}, {0x56}},
      {"bfe.s32 %r0, %r1, 0, 1;", {1}, {-1}},
      {"bfe.u64 %rd0, %rd1, %r2, %r3;", {0x123456789abcdef0, 32, 16}, {0x5678}},
      {"bfe.s64 %rd0, %rd1, %r2, %r3;", {0x123456789abcdef0, 24, 8}, {0xffffffffffffff9a}},
      {"bfe.s64 %rd0, %rd1, %r2, %r3;", {0x8000000000000000, 60, 9}, {-8}},
      {"bfe.u64 %rd0, %rd1, %r2, %r3;", {-1, 64, 8}, {0}},
  });
}

TEST(PtxBits, AreCountedFoundAndReversed) {
  expect_rows({
      {"popc.b32 %r0, %r1;", {0}, {0}},
      {"popc.b32 %r0, %r1;", {0xffffffff}, {32}},
      {"popc.b32 %r0, %r1;", {0x80000101}, {3}},
      {"popc.b64 %r0, %rd1;", {0x8000000000000101}, {3}},
      {"popc.b64 %r0, %rd1;", {-1}, {64}},
      {"clz.b32 %r0, %r1;", {0}, {32}},
      {"clz.b32 %r0, %r1;", {1}, {31}},
      {"clz.b32 %r0, %r1;", {0x80000000}, {0}},
      {"clz.b64 %r0, %rd1;", {0}, {64}},
      {"clz.b64 %r0, %rd1;", {0x100000000}, {31}},
      {"clz.b64 %r0, %rd1;", {-1}, {0}},
      {"brev.b32 %r0, %r1;", {0x00000001}, {0x80000000}},
      {"brev.b32 %r0, %r1;", {0x12345678}, {0x1e6a2c48}},
      {"brev.b64 %rd0, %rd1;", {0x12345678}, {0x1e6a2c4800000000}},
      {"bfind.u32 %r0, %r1;", {0}, {0xffffffff}},
      {"bfind.u32 %r0, %r1;", {0x00010001}, {16}},
      {"bfind.s32 %r0, %r1;", {-1}, {0xffffffff}},
      {"bfind.s32 %r0, %r1;", {0xfffeffff}, {16}},
      {"bfind.shiftamt.u32 %r0, %r1;", {0x00010001}, {15}},
      {"bfind.u64 %r0, %rd1;", {0x100000000}, {32}},
      {"bfind.s64 %r0, %rd1;", {0xfffffffeffffffff}, {32}},
  });
}

TEST(PtxBits, EveryTruthTableOfThree) {
  for (std::uint32_t table = 0; table < 256; ++table) {
    const std::string body = "lop3.b32 %r0, %r1, %r2, %r3, " + std::to_string(table) + ";";
    // The columns of the table are the manual's 0xF0, 0xCC and 0xAA.
    expect_rows({{body, {0xf0f0f0f0, 0xcccccccc, 0xaaaaaaaa}, {table * 0x01010101}}});
  }
}

TEST(PtxBits, RegistersArePackedAndUnpacked) {
  expect_rows({
      {"mov.b64 %rd0, {%r1, %r2};", {0x89abcdef, 0x01234567}, {0x0123456789abcdef}},
      {"mov.b64 {%r0, %r9}, %rd1;", {0x0123456789abcdef}, {0x89abcdef, 0x01234567}},
      {"mov.b32 %r0, {%rs1, %rs2};", {0xcdef, 0x89ab}, {0x89abcdef}},
      {"mov.b32 {%rs0, %rs9}, %r1;", {0x89abcdef}, {0xcdef, 0x89ab}},
      {"mov.b64 {%r0, %r9}, %fd1;", {-2.0}, {0, 0xc0000000}},
      {"mov.b64 %fd0, {%r1, %r2};", {0, 0xc0000000}, {-2.0}},
      {"mov.b64 {%rs0, %rs5, %rs6, %rs9}, %rd1;", {0x0123456789abcdef}, {0xcdef, 0x0123}},
      {"mov.b64 %rd0, {%rs1, %rs2, %rs3, %rs4};", {0xcdef, 0x89ab, 0x4567, 0x0123}, {0x0123456789abcdef}},
      {"{.reg .b32 %half; mov.b64 {%half, %r0}, %rd1;}", {0x0123456789abcdef}, {0x01234567}},
  });
}

}  // namespace
}  // namespace trigram::ptx
