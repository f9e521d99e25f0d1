// Comparisons, predicates and selections, as the PTX ISA defines them.
#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <string>
#include <vector>

#include "tests/ptx/one_instruction.hpp"

namespace trigram::ptx {
namespace {

/// What a comparison says of two operands of which the first is less, equal, greater, and of two that have no order.
struct Comparison {
  std::string name;
  std::array<bool, 3> truth;
  bool unordered = false;
};

const std::vector<Comparison> comparisons = {{"eq", {false, true, false}}, {"ne", {true, false, true}},
                                             {"lt", {true, false, false}}, {"le", {true, true, false}},
                                             {"gt", {false, false, true}}, {"ge", {false, true, true}}};

/// Tries a type's comparison with pairs of operands that are all in one relation: 0 less, 1 equal, 2 greater.
void expect_relation(const Comparison& comparison, const std::string& type, const std::string& family,
                     std::size_t relation, const std::vector<Inputs>& pairs) {
  const std::string body = "setp." + comparison.name + "." + type + " %p0, %" + family + "1, %" + family + "2;";
  for (const Inputs& pair : pairs) expect_rows({{body, pair, {comparison.truth.at(relation)}}});
}

void expect_integer_comparisons(const std::string& type, const std::string& family, const std::vector<Inputs>& rising) {
  for (const Comparison& comparison : comparisons) {
    expect_relation(comparison, type, family, 0, rising);
    for (const Inputs& pair : rising) {
      expect_relation(comparison, type, family, 1, {{pair[0], pair[0]}, {pair[1], pair[1]}});
      expect_relation(comparison, type, family, 2, {{pair[1], pair[0]}});
    }
  }
}

TEST(PtxComparison, IntegersAreSignedOrNot) {
  expect_integer_comparisons("s16", "rs", {{0x8000, 0x7fff}, {-1, 0}, {3, 4}});
  expect_integer_comparisons("u16", "rs", {{0x7fff, 0x8000}, {0, 0xffff}, {3, 4}});
  expect_integer_comparisons("s32", "r", {{0x80000000, 0x7fffffff}, {-1, 0}, {3, 4}});
  expect_integer_comparisons("u32", "r", {{0x7fffffff, 0x80000000}, {0, 0xffffffff}, {3, 4}});
  expect_integer_comparisons("s64", "rd",
                             {{0x8000000000000000, 0x7fffffffffffffff}, {-1, 0}, {0xffffffff, 0x100000000}});
  expect_integer_comparisons("u64", "rd",
                             {{0x7fffffffffffffff, 0x8000000000000000}, {0, -1}, {0xffffffff, 0x100000000}});
}

TEST(PtxComparison, UnsignedOnesHaveTwoNames) {
  expect_rows({
      {"setp.lo.u32 %p0, %r1, %r2;", {1, -1}, {true}},
      {"setp.lo.u32 %p0, %r1, %r2;", {1, 1}, {false}},
      {"setp.ls.u32 %p0, %r1, %r2;", {1, 1}, {true}},
      {"setp.ls.u64 %p0, %rd1, %rd2;", {-1, 1}, {false}},
      {"setp.hi.u32 %p0, %r1, %r2;", {-1, 1}, {true}},
      {"setp.hi.u16 %p0, %rs1, %rs2;", {1, 1}, {false}},
      {"setp.hs.u32 %p0, %r1, %r2;", {1, 1}, {true}},
      {"setp.hs.u32 %p0, %r1, %r2;", {1, 0x80000000}, {false}},
  });
}

TEST(PtxComparison, UntypedBitsAreEqualOrNot) {
  expect_rows({
      {"setp.eq.b16 %p0, %rs1, %rs2;", {0x8000, 0x8000}, {true}},
      {"setp.ne.b16 %p0, %rs1, %rs2;", {0x8000, 0}, {true}},
      {"setp.eq.b32 %p0, %r1, 1;", {1}, {true}},
      {"setp.eq.b32 %p0, %r1, 1;", {0x80000001}, {false}},
      {"setp.ne.b32 %p0, %r1, %r2;", {1, 1}, {false}},
      {"setp.eq.b64 %p0, %rd1, 1;", {0x100000001}, {false}},
      {"setp.ne.b64 %p0, %rd1, %rd2;", {0x100000001, 1}, {true}},
      {"setp.gt.s16 %p0, %rs1, -1;", {0}, {true}},
      {"setp.gt.u16 %p0, %rs1, 31743;", {0xffff}, {true}},
      {"setp.lt.u32 %p0, %r1, -1;", {5}, {true}},
      {"setp.lt.s64 %p0, %rd1, -1;", {-2}, {true}},
  });
}

template <class T>
void expect_float_comparisons(const std::string& type, const std::string& family) {
  using limits = std::numeric_limits<T>;
  const std::vector<Inputs> rising = {{T{1}, T{2}},
                                      {T{-2}, T{-1}},
                                      {-limits::denorm_min(), T{0}},
                                      {T{0}, limits::denorm_min()},
                                      {-limits::infinity(), limits::lowest()},
                                      {limits::max(), limits::infinity()}};
  const std::vector<Inputs> equal = {{T{1}, T{1}}, {-T{0}, T{0}}, {limits::infinity(), limits::infinity()}};
  const std::vector<Inputs> no_order = {{limits::quiet_NaN(), T{1}},
                                        {T{1}, -limits::quiet_NaN()},
                                        {limits::infinity(), limits::quiet_NaN()},
                                        {limits::quiet_NaN(), limits::quiet_NaN()}};
  std::vector<Comparison> all = comparisons;
  for (Comparison one : comparisons) all.push_back({one.name + "u", one.truth, true});
  all.push_back({"num", {true, true, true}});
  all.push_back({"nan", {false, false, false}, true});
  for (Comparison one : all) {
    expect_relation(one, type, family, 0, rising);
    expect_relation(one, type, family, 1, equal);
    for (const Inputs& pair : rising) expect_relation(one, type, family, 2, {{pair[1], pair[0]}});
    expect_relation({one.name, {one.unordered}}, type, family, 0, no_order);
  }
}

TEST(PtxComparison, NanHasNoOrder) {
  expect_float_comparisons<float>("f32", "f");
  expect_float_comparisons<double>("f64", "fd");
}

TEST(PtxComparison, SubnormalsAreZerosWhereFlushed) {
  expect_rows({
      {"setp.gt.ftz.f32 %p0, %f1, %f2;", {0x1p-127F, 0.0F}, {false}},
      {"setp.gt.f32 %p0, %f1, %f2;", {0x1p-127F, 0.0F}, {true}},
      {"setp.eq.ftz.f32 %p0, %f1, %f2;", {0x1p-149F, -0x1p-127F}, {true}},
      {"setp.lt.ftz.f32 %p0, %f1, %f2;", {0x1p-127F, 0x1p-126F}, {true}},
      {"setp.neu.ftz.f32 %p0, %f1, %f2;", {0x1p-127F, 0.0F}, {false}},
  });
}

TEST(PtxComparison, IsCombinedWithAPredicate) {
  expect_rows({
      {"setp.lt.s32 %p0|%p9, %r1, %r2;", {1, 2}, {true, false}},
      {"setp.lt.s32 %p0|%p9, %r1, %r2;", {2, 1}, {false, true}},
      {"setp.lt.and.s32 %p0, %r1, %r2, %p3;", {1, 2, true}, {true}},
      {"setp.lt.and.s32 %p0, %r1, %r2, %p3;", {1, 2, false}, {false}},
      {"setp.lt.and.s32 %p0|%p9, %r1, %r2, %p3;", {2, 1, true}, {false, true}},
      {"setp.lt.and.s32 %p0|%p9, %r1, %r2, %p3;", {2, 1, false}, {false, false}},
      {"setp.lt.or.s32 %p0|%p9, %r1, %r2, %p3;", {2, 1, true}, {true, true}},
      {"setp.lt.or.s32 %p0, %r1, %r2, %p3;", {2, 1, false}, {false}},
      {"setp.lt.xor.s32 %p0|%p9, %r1, %r2, %p3;", {1, 2, true}, {false, true}},
      {"setp.lt.xor.s32 %p0, %r1, %r2, %p3;", {2, 1, true}, {true}},
      {"setp.eq.and.u32 %p0, %r1, %r2, !%p3;", {1, 1, false}, {true}},
      {"setp.eq.and.u32 %p0, %r1, %r2, !%p3;", {1, 1, true}, {false}},
      {"setp.gt.and.f32 %p0, %f1, %f2, %p3;", {2.0F, 1.0F, true}, {true}},
      {"setp.nan.or.f64 %p0, %fd1, %fd1, !%p2;", {1.0, true}, {false}},
      // Not the contrary of the comparison, since NaN has no order, but of its result.
      {"setp.lt.f32 %p0|%p9, %f1, %f2;", {std::numeric_limits<float>::quiet_NaN(), 1.0F}, {false, true}},
  });
}

TEST(PtxComparison, SelectsByAPredicate) {
  expect_rows({
      {"selp.b16 %rs0, %rs1, %rs2, %p3;", {1, 2, true}, {1}},
      {"selp.u16 %rs0, 1, 0, %p1;", {false}, {0}},
      {"selp.b32 %r0, %r1, %r2, %p3;", {1, 2, false}, {2}},
      {"selp.b32 %r0, -1, %r1, %p2;", {5, true}, {-1}},
      {"selp.s32 %r0, %r1, %r2, %p3;", {1, 2, true}, {1}},
      {"selp.u32 %r0, 1, 0, %p1;", {true}, {1}},
      {"selp.b64 %rd0, %rd1, %rd2, %p3;", {0x100000000, 2, true}, {0x100000000}},
      {"selp.u64 %rd0, 1, 0, %p1;", {false}, {0}},
      {"selp.s64 %rd0, -1, %rd1, %p2;", {5, true}, {-1}},
      {"selp.f32 %f0, %f1, %f2, %p3;", {0x7fa00001, 2.0F, true}, {0x7fa00001}},
      {"selp.f32 %f0, 0f3F800000, %f1, %p2;", {2.0F, false}, {2.0F}},
      {"selp.f64 %fd0, 0dFFF0000000000000, %fd1, %p2;", {-0.0, false}, {-0.0}},
  });
}

TEST(PtxComparison, PredicatesAreComputedWith) {
  expect_rows({
      {"and.pred %p0, %p1, %p2;", {true, true}, {true}},
      {"and.pred %p0, %p1, %p2;", {true, false}, {false}},
      {"or.pred %p0, %p1, %p2;", {false, true}, {true}},
      {"or.pred %p0, %p1, %p2;", {false, false}, {false}},
      {"xor.pred %p0, %p1, %p2;", {true, true}, {false}},
      {"xor.pred %p0, %p1, %p2;", {false, true}, {true}},
      {"not.pred %p0, %p1;", {true}, {false}},
      {"not.pred %p0, %p1;", {false}, {true}},
      {"mov.pred %p0, %p1;", {false}, {false}},
      {"mov.pred %p0, 0;", {}, {false}},
      {"mov.pred %p0, -1;", {}, {true}},
  });
}

TEST(PtxComparison, GuardsKeepAnInstructionFromItsLane) {
  expect_rows({
      {"@%p1 mov.u32 %r0, %r2;", {true, 7}, {7}},
      {"@%p1 mov.u32 %r0, %r2;", {false, 7}, {0x55555555}},
      {"@!%p1 mov.u32 %r0, %r2;", {false, 7}, {7}},
      {"@!%p1 mov.u32 %r0, %r2;", {true, 7}, {0x55555555}},
      {"@%p1 setp.eq.u32 %p0, %r2, 8;", {true, 7}, {false}},
      {"@%p1 setp.eq.u32 %p0, %r2, 8;", {false, 7}, {true}},
      {"@%p1 ld.global.u32 %r0, [%rd2];", {false, 1}, {0x55555555}},
      {"mov.u32 %r0, 1; @%p1 bra over; mov.u32 %r0, 2; over: add.s32 %r0, %r0, 10;", {true}, {11}},
      {"mov.u32 %r0, 1; @%p1 bra over; mov.u32 %r0, 2; over: add.s32 %r0, %r0, 10;", {false}, {12}},
      {"mov.u32 %r0, 1; @!%p1 bra.uni over; mov.u32 %r0, 2; over: add.s32 %r0, %r0, 10;", {false}, {11}},
      {"mov.u32 %r0, 0; again: add.s32 %r0, %r0, 3; setp.lt.u32 %p2, %r0, %r1; @%p2 bra again;", {10}, {12}},
  });
}

}  // namespace
}  // namespace trigram::ptx
