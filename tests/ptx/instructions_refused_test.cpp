// What the interpreter does not know is refused before it runs, with its text and its place.
#include <gtest/gtest.h>

#include <string>

#include "core/values/error.hpp"
#include "tests/ptx/one_instruction.hpp"

namespace trigram::ptx {
namespace {

/// Why a body is not read.
std::string refusal_of(const std::string& body) {
  try {
    run(body, {1, 2, 3});
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(PtxRefused, UnknownInstructionsAreNamedWithTheirLine) {
  const std::string refusal = refusal_of("add.s32 %r0, %r1, %r2;\nunheard.of.s32 %r0, %r1, %r2;");
  EXPECT_NE(refusal.find("unheard.of.s32 %r0, %r1, %r2"), std::string::npos) << refusal;
  EXPECT_NE(refusal.find("one_instruction"), std::string::npos) << refusal;
  EXPECT_NE(refusal.find("a test"), std::string::npos) << refusal;
  EXPECT_NE(refusal.find("33"), std::string::npos) << refusal;
}

TEST(PtxRefused, NothingIsReadAsWhatItIsNot) {
  for (const std::string body : {"add.twice.s32 %r0, %r1, %r2;",
                                 "add.f31 %f0, %f1, %f2;",
                                 "add.s32.s32 %r0, %r1, %r2;",
                                 "add.s32 %r0, %r1;",
                                 "add.s32 %r0, %r1, %r2, %r3;",
                                 "add.s64 %rd0, %r1, %rd2;",
                                 "add.s32 %r0, %r1, %p2;",
                                 "add.s32 %r0, %r1, %unknown;",
                                 "add.s32 5, %r1, %r2;",
                                 "add.sat.u32 %r0, %r1, %r2;",
                                 "shl.s32 %r0, %r1, %r2;",
                                 "and.u32 %r0, %r1, %r2;",
                                 "setp.about.s32 %p0, %r1, %r2;",
                                 "setp.lo.f32 %p0, %f1, %f2;",
                                 "setp.nan.s32 %p0, %r1, %r2;",
                                 "setp.lt.b32 %p0, %r1, %r2;",
                                 "setp.eq.s32 %r0, %r1, %r2;",
                                 "selp.b32 %r0, %r1, %r2, %r3;",
                                 "cvt.s32.f32 %r0, %f1;",
                                 "cvt.f32.s32 %f0, %r1;",
                                 "cvt.rzi.f32.s32 %f0, %r1;",
                                 "cvt.f32.f64 %f0, %fd1;",
                                 "cvt.rn.s32.f32 %r0, %f1;",
                                 "fma.f32 %f0, %f1, %f2, %f3;",
                                 "div.f32 %f0, %f1, %f2;",
                                 "sqrt.f32 %f0, %f1;",
                                 "add.ftz.f64 %fd0, %fd1, %fd2;",
                                 "mul.s32 %r0, %r1, %r2;",
                                 "mul.wide.s64 %rd0, %rd1, %rd2;",
                                 "shfl.bfly.b32 %r0, %r1, 1, 31;",
                                 "shfl.sync.round.b32 %r0, %r1, 1, 31, -1;",
                                 "vote.sync.most.pred %p0, %p1, -1;",
                                 "ld.global.v3.u32 {%r0, %r5, %r6}, [%rd8];",
                                 "ld.global.v2.u32 %r0, [%rd8];",
                                 "ld.global.u64 %r0, [%rd8];",
                                 "ld.nowhere.u32 %r0, [%rd8];",
                                 "st.global.u32 [%rd8], %p1;",
                                 "ld.param.u32 %r0, [unknown];",
                                 "bra nowhere;",
                                 "prmt.b32.f5e %r0, %r1, %r2, %r3;",

                                 "mov.b64 {%r0, %r9}, %r1;",
                                 "@%r1 mov.u32 %r0, 1;",
                                 "mov.u32 %r0, %clock;",
                                 "tex.2d.v4.f32.f32 {%f0, %f5, %f6, %f9}, [a, {%f1, %f2}];"}) {
    EXPECT_NE(refusal_of(body).find(body.substr(0, body.size() - 1)), std::string::npos)
        << body << " " << refusal_of(body);
  }
}

}  // namespace
}  // namespace trigram::ptx
