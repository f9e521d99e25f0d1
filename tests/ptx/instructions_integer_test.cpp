// Integer arithmetic, as the PTX ISA defines it: results wrap, and .hi, .lo and .wide are parts of the whole product.
#include <gtest/gtest.h>

#include "tests/ptx/one_instruction.hpp"

namespace trigram::ptx {
namespace {

TEST(PtxInteger, SumsAndDifferencesWrap) {
  expect_rows({
      {"add.s32 %r0, %r1, %r2;", {0x7fffffff, 1}, {0x80000000}},
      {"add.u32 %r0, %r1, %r2;", {0xffffffff, 2}, {1}},
      {"add.s32 %r0, %r1, -1;", {0}, {0xffffffff}},
      {"add.s64 %rd0, %rd1, %rd2;", {0xffffffff, 1}, {0x100000000}},
      {"add.u64 %rd0, %rd1, %rd2;", {-1, 3}, {2}},
      {"add.s64 %rd0, %rd1, -2147483648;", {0}, {0xffffffff80000000}},
      {"add.s64 %rd0, %rd1, 4294967295;", {1}, {0x100000000}},
      {"add.s16 %rs0, %rs1, %rs2;", {0x7fff, 1}, {0x8000}},
      {"add.u16 %rs0, %rs1, -1;", {0}, {0xffff}},
      {"sub.s32 %r0, %r1, %r2;", {0, 1}, {0xffffffff}},
      {"sub.u32 %r0, %r1, %r2;", {5, 7}, {0xfffffffe}},
      {"sub.s32 %r0, 32, %r1;", {5}, {27}},
      {"sub.s64 %rd0, %rd1, %rd2;", {0x100000000, 1}, {0xffffffff}},
      {"sub.u64 %rd0, %rd1, %rd2;", {0, 1}, {-1}},
      {"sub.s16 %rs0, %rs1, %rs2;", {0x8000, 1}, {0x7fff}},
      {"neg.s32 %r0, %r1;", {5}, {-5}},
      {"neg.s64 %rd0, %rd1;", {0x100000000}, {0xffffffff00000000}},
      {"neg.s16 %rs0, %rs1;", {1}, {0xffff}},
      {"abs.s32 %r0, %r1;", {-7}, {7}},
      {"abs.s32 %r0, %r1;", {0x7fffffff}, {0x7fffffff}},
      {"abs.s64 %rd0, %rd1;", {-0x100000000}, {0x100000000}},
      {"abs.s16 %rs0, %rs1;", {0x8001}, {0x7fff}},
  });
}

TEST(PtxInteger, SumsSaturateWhereAskedTo) {
  expect_rows({
      {"add.sat.s32 %r0, %r1, %r2;", {0x7fffffff, 1}, {0x7fffffff}},
      {"add.sat.s32 %r0, %r1, %r2;", {0x80000000, -1}, {0x80000000}},
      {"add.sat.s32 %r0, %r1, %r2;", {0x7ffffffe, 1}, {0x7fffffff}},
      {"sub.sat.s32 %r0, %r1, %r2;", {0x80000000, 1}, {0x80000000}},
      {"sub.sat.s32 %r0, %r1, %r2;", {0, 0x80000000}, {0x7fffffff}},
      {"sub.sat.s32 %r0, %r1, %r2;", {-5, -7}, {2}},
  });
}

TEST(PtxInteger, ProductsHaveThreeParts) {
  expect_rows({
      {"mul.lo.s32 %r0, %r1, %r2;", {0x12345678, 0x9abcdef0}, {0x242d2080}},
      {"mul.lo.u32 %r0, %r1, %r2;", {0x12345678, 0x9abcdef0}, {0x242d2080}},
      {"mul.hi.u32 %r0, %r1, %r2;", {0x12345678, 0x9abcdef0}, {0x0b00ea4e}},
      {"mul.hi.s32 %r0, %r1, %r2;", {0x12345678, 0x9abcdef0}, {0xf8cc93d6}},
      {"mul.hi.s32 %r0, %r1, %r2;", {0x80000000, 0x80000000}, {0x40000000}},
      {"mul.hi.s32 %r0, %r1, %r2;", {-1, 1}, {-1}},
      {"mul.hi.u32 %r0, %r1, %r2;", {0xffffffff, 0xffffffff}, {0xfffffffe}},
      {"mul.hi.u32 %r0, %r1, -858993459;", {1000}, {800}},
      {"mul.wide.s32 %rd0, %r1, %r2;", {0x12345678, 0x9abcdef0}, {0xf8cc93d6242d2080}},
      {"mul.wide.u32 %rd0, %r1, %r2;", {0x12345678, 0x9abcdef0}, {0x0b00ea4e242d2080}},
      {"mul.wide.s32 %rd0, %r1, 4;", {-3}, {-12}},
      {"mul.wide.u32 %rd0, %r1, 4;", {-3}, {0x3fffffff4}},
      {"mul.wide.s16 %r0, %rs1, %rs2;", {0x1234, 0x9abc}, {0xf8cca630}},
      {"mul.wide.u16 %r0, %rs1, %rs2;", {0x1234, 0x9abc}, {0x0b00a630}},
      {"mul.lo.s16 %rs0, %rs1, %rs2;", {0x1234, 0x9abc}, {0xa630}},
      {"mul.lo.u16 %rs0, %rs1, %rs2;", {0xffff, 0xffff}, {1}},
      {"mul.hi.s16 %rs0, %rs1, %rs2;", {0x1234, 0x9abc}, {0xf8cc}},
      {"mul.hi.u16 %rs0, %rs1, %rs2;", {0x1234, 0x9abc}, {0x0b00}},
      {"mul.lo.s64 %rd0, %rd1, %rd2;", {0x123456789abcdef0, 0xfedcba9876543210}, {0x236d88fe5618cf00}},
      {"mul.lo.u64 %rd0, %rd1, %rd2;", {0x123456789abcdef0, 0xfedcba9876543210}, {0x236d88fe5618cf00}},
      {"mul.hi.u64 %rd0, %rd1, %rd2;", {0x123456789abcdef0, 0xfedcba9876543210}, {0x121fa00ad77d7422}},
      {"mul.hi.s64 %rd0, %rd1, %rd2;", {0x123456789abcdef0, 0xfedcba9876543210}, {0xffeb49923cc09532}},
      {"mul.hi.u64 %rd0, %rd1, %rd2;", {-1, -1}, {-2}},
      {"mul.hi.s64 %rd0, %rd1, %rd2;", {-1, -1}, {0}},
      {"mul.hi.s64 %rd0, %rd1, %rd2;", {most_negative, 2}, {-1}},
  });
}

TEST(PtxInteger, ProductsAreAddedTo) {
  expect_rows({
      {"mad.lo.s32 %r0, %r1, %r2, %r3;", {0x10000, 0x10000, 5}, {5}},
      {"mad.lo.u32 %r0, %r1, %r2, %r3;", {0xffffffff, 2, 3}, {1}},
      {"mad.lo.s32 %r0, %r1, -7, %r2;", {3, 20}, {-1}},
      {"mad.lo.s64 %rd0, %rd1, %rd2, %rd3;", {0x100000001, 0x100000001, -1}, {0x200000000}},
      {"mad.lo.u64 %rd0, %rd1, %rd2, %rd3;", {most_negative, 2, 9}, {9}},
      {"mad.lo.s16 %rs0, %rs1, %rs2, %rs3;", {0x100, 0x100, 7}, {7}},
      {"mad.hi.u32 %r0, %r1, %r2, %r3;", {0xffffffff, 0xffffffff, 3}, {1}},
      {"mad.hi.s32 %r0, %r1, %r2, %r3;", {-1, 1, 3}, {2}},
      {"mad.hi.s64 %rd0, %rd1, %rd2, %rd3;", {most_negative, 2, 5}, {4}},
      {"mad.hi.u64 %rd0, %rd1, %rd2, %rd3;", {most_negative, 2, 5}, {6}},
      {"mad.wide.s32 %rd0, %r1, %r2, %rd3;", {-3, 5, 0x100000000}, {0xfffffff1}},
      {"mad.wide.u32 %rd0, %r1, %r2, %rd3;", {0xffffffff, 0xffffffff, 0x1ffffffff}, {0}},
      {"mad.wide.s16 %r0, %rs1, %rs2, %r3;", {0xffff, 3, 0x10000}, {0xfffd}},
      {"mad.wide.u16 %r0, %rs1, %rs2, %r3;", {0xffff, 0xffff, 0x1ffff}, {0}},
  });
}

TEST(PtxInteger, QuotientsRoundTowardsZero) {
  expect_rows({
      {"div.s32 %r0, %r1, %r2;", {-7, 2}, {-3}},
      {"div.s32 %r0, %r1, %r2;", {7, -2}, {-3}},
      {"div.u32 %r0, %r1, %r2;", {-7, 2}, {0x7ffffffc}},
      {"div.u32 %r0, %r1, 10;", {4294967295}, {429496729}},
      {"div.s64 %rd0, %rd1, %rd2;", {0xfedcba9876543210, 0x1234567}, {0xfffffffeffffff87}},
      {"div.u64 %rd0, %rd1, %rd2;", {0xfedcba9876543210, 0x123456789}, {0xe0000000}},
      {"div.s64 %rd0, %rd1, %rd2;", {most_negative, 3}, {-3074457345618258602}},
      {"div.s16 %rs0, %rs1, %rs2;", {-7, 2}, {-3}},
      {"div.u16 %rs0, %rs1, %rs2;", {0xfff9, 2}, {0x7ffc}},
      {"rem.s32 %r0, %r1, %r2;", {-7, 2}, {-1}},
      {"rem.s32 %r0, %r1, %r2;", {7, -2}, {1}},
      {"rem.u32 %r0, %r1, %r2;", {-7, 10}, {9}},
      {"rem.s64 %rd0, %rd1, %rd2;", {0xfedcba9876543210, 0x1234567}, {-65}},
      {"rem.u64 %rd0, %rd1, %rd2;", {0xfedcba9876543210, 0x123456789}, {0x96543210}},
      {"rem.u64 %rd0, %rd1, 10;", {-1}, {5}},
      {"rem.s16 %rs0, %rs1, %rs2;", {-7, 4}, {-3}},
      {"rem.u16 %rs0, %rs1, %rs2;", {0xffff, 10}, {5}},
  });
}

TEST(PtxInteger, OrderDependsOnTheSign) {
  expect_rows({
      {"min.s32 %r0, %r1, %r2;", {-1, 1}, {-1}},
      {"min.u32 %r0, %r1, %r2;", {-1, 1}, {1}},
      {"max.s32 %r0, %r1, %r2;", {-1, 1}, {1}},
      {"max.u32 %r0, %r1, %r2;", {-1, 1}, {-1}},
      {"min.s64 %rd0, %rd1, %rd2;", {most_negative, 0}, {most_negative}},
      {"min.u64 %rd0, %rd1, %rd2;", {most_negative, 0}, {0}},
      {"max.s64 %rd0, %rd1, 1;", {most_negative}, {1}},
      {"max.u64 %rd0, %rd1, 1;", {most_negative}, {most_negative}},
      {"max.s64 %rd0, %rd1, %rd2;", {0x1ffffffff, 0x200000000}, {0x200000000}},
      {"min.s16 %rs0, %rs1, %rs2;", {0x8000, 1}, {0x8000}},
      {"min.u16 %rs0, %rs1, %rs2;", {0x8000, 1}, {1}},
      {"max.s16 %rs0, %rs1, %rs2;", {0x8000, 1}, {1}},
      {"max.u16 %rs0, %rs1, %rs2;", {0x8000, 1}, {0x8000}},
      {"sad.u32 %r0, %r1, %r2, %r3;", {3, 5, 10}, {12}},
      {"sad.s32 %r0, %r1, %r2, %r3;", {-3, 5, 10}, {18}},
  });
}

TEST(PtxInteger, ConstantsAreReadInAllTheirSpellings) {
  expect_rows({
      {"mov.u32 %r0, 0x1F;", {}, {31}},
      {"mov.u32 %r0, 017;", {}, {15}},
      {"mov.u32 %r0, 0b101;", {}, {5}},
      {"mov.u32 %r0, 4294967295U;", {}, {0xffffffff}},
      {"mov.u64 %rd0, -1;", {}, {-1}},
      {"mov.u64 %rd0, 0xFFFFFFFFFFFFFFFF;", {}, {-1}},
      {"mov.u64 %rd0, 9223372036854775807;", {}, {0x7fffffffffffffff}},
      {"mov.u64 %rd0, -9223372036854775808;", {}, {most_negative}},
      {"mov.u16 %rs0, -2;", {}, {0xfffe}},
      {"mov.b16 %rs0, %rs1;", {0x8001}, {0x8001}},
      {"mov.b16 %rs0, 0x7C00;", {}, {0x7c00}},
      {"mov.b32 %r0, -2147483648;", {}, {0x80000000}},
      {"mov.f32 %f0, 0f3F800000;", {}, {1.0F}},
      {"mov.f32 %f0, 0fBF000000;", {}, {-0.5F}},
      {"mov.f64 %fd0, 0d3FF8000000000000;", {}, {1.5}},
      {"mov.b32 %r0, 0f3F800000;", {}, {0x3f800000}},
      {"add.rn.f32 %f0, %f1, 0f40000000;", {1.0F}, {3.0F}},
      {"mov.f32 %f0, %f1;", {-0.0F}, {-0.0F}},
      {"mov.b32 %f0, %r1;", {0x7fc00001}, {0x7fc00001}},
      {"mov.b64 %rd0, %fd1;", {-2.0}, {0xc000000000000000}},
  });
}

}  // namespace
}  // namespace trigram::ptx
