// What is read of PTX, and how what is not known is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/values/error.hpp"
#include "tests/ptx/small_kernels.hpp"

namespace trigram::ptx {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string refusal_of_text(const std::string& text) {
  try {
    Module::read(text, "some.ptx");
    return {};
  } catch (const UsageError& error) {
    return error.what();
  }
}

std::string refusal_of_body(const std::string& body) { return refusal_of_text(small_module(body)); }

TEST(PtxReader, FindsParametersWithTheirAlignment) {
  const Module module = Module::read(R"(
.visible .entry first(.param .u8 a, .param .align 16 .b8 b[20], .param .u64 .ptr .align 1 c)
.maxntid 128, 2, 1
{ ret; }
.entry second { ret; }
)",
                                     "two.ptx");
  EXPECT_EQ(module.kernels().size(), 2U);
  const Kernel& first = module.kernel("first");
  ASSERT_EQ(first.parameters.size(), 3U);
  EXPECT_EQ(first.parameters[1].offset, 16U);
  EXPECT_EQ(first.parameters[1].size, 20U);
  EXPECT_EQ(first.parameters[2].offset, 40U);
  EXPECT_EQ(first.parameter_bytes, 48U);
  EXPECT_EQ(first.most_threads, 256U);
  EXPECT_EQ(module.kernel("second").parameter_bytes, 0U);
}

TEST(PtxReader, KeepsTheTextAndThePlacesOfInstructions) {
  const Module module = Module::read(
      ".visible .entry here() {\n.loc 2 17 3\n// nothing\n  exit ;\n}\n.file 2 \"source.cu\"\n", "here.ptx");
  const Instruction& exit = module.kernel("here").code.at(0);
  EXPECT_EQ(exit.text, "exit");
  EXPECT_EQ(exit.place.line, 4U);
  EXPECT_EQ(exit.place.source_file, "source.cu");
  EXPECT_EQ(exit.place.source_line, 17U);
}

TEST(PtxReader, LaysOutSharedAndLocalVariables) {
  const Module module = Module::read(R"(
.shared .align 4 .b8 used[12];
.shared .align 4 .b8 unused[1000];
.extern .shared .align 16 .b8 rest[];
.visible .entry variables() {
  .reg .b32 %r<4>;
  .reg .b64 %rd<4>;
  .shared .align 8 .b8 own[8];
  .local .align 8 .b8 depot[24];
  mov.u32 %r1, used;
  mov.u32 %r2, rest;
  mov.u64 %rd1, depot;
})",
                                     "variables.ptx");
  const Kernel& kernel = module.kernel("variables");
  EXPECT_EQ(kernel.shared_bytes, 32U) << "12 and 8 bytes, aligned for what the launch adds";
  EXPECT_EQ(kernel.local_bytes, 24U);
}

TEST(PtxReader, InnerBlocksHaveNamesOfTheirOwn) {
  const auto words = words_after(R"(
  { .reg .b32 own; mov.u32 own, 5; st.global.u32 [%rd1], own; }
  { .reg .b64 own; mov.u64 own, %rd1; st.global.u32 [own+4], 7; })",
                                 {1}, 2);
  EXPECT_EQ(words, (std::vector<std::uint32_t>{5, 7}));
  EXPECT_THAT(refusal_of_body("{ .reg .b32 own; }\n mov.u32 own, 5;"), HasSubstr("nothing declares 'own'"));
}

TEST(PtxReader, RefusesWithTheStatementItsKernelAndItsLine) {
  EXPECT_EQ(refusal_of_body("  add.quick.s32 %r1, %r2, %r3;"),
            "some.ptx:14: kernel tried: cannot read 'add.quick.s32 %r1, %r2, %r3': the interpreter does not know it "
            "with .quick");
}

TEST(PtxReader, RefusesInstructionsThatItDoesNotKnow) {
  EXPECT_THAT(refusal_of_body("tex.2d.v4.f32.f32 {%r1, %r2, %r3, %r4}, [t, {%r1, %r2}];"),
              HasSubstr("does not know tex"));
  EXPECT_THAT(refusal_of_body("atom.global.add.u32 %r1, [%rd1], 1;"), HasSubstr("does not know atom"));
  EXPECT_THAT(refusal_of_body("popc.b16 %r1, %r2;"), HasSubstr("takes 32 or 64 bits"));
  EXPECT_THAT(refusal_of_body("add.b32 %r1, %r2, %r3;"), HasSubstr("counts with integers"));
  EXPECT_THAT(refusal_of_body("add.s32 %r1, %r2;"), HasSubstr("too few operands"));
  EXPECT_THAT(refusal_of_body("add.s32 %r1, %r2, %r3, %r4;"), HasSubstr("too many operands"));
  EXPECT_THAT(refusal_of_body("mul.s32 %r1, %r2, %r3;"), HasSubstr("one of .lo .hi .wide"));
  EXPECT_THAT(refusal_of_body("bar.sync 0, 64;"), HasSubstr("barriers of all threads"));
  EXPECT_THAT(refusal_of_body("barrier.sync 0;"), HasSubstr("barriers that are aligned"));
}

TEST(PtxReader, RefusesOperandsThatDoNotFit) {
  EXPECT_THAT(refusal_of_body("add.s32 %r1, %rd1, %r3;"), HasSubstr("%rd1 has 64 bits, and the instruction takes 32"));
  EXPECT_THAT(refusal_of_body("add.s32 %r1, %r99, %r3;"), HasSubstr("nothing declares %r99"));
  EXPECT_THAT(refusal_of_body("add.s32 5, %r1, %r3;"), HasSubstr("5 is no register"));
  EXPECT_THAT(refusal_of_body("add.rn.f32 %r1, %r2, 1;"), HasSubstr("1 is an integer where"));
  EXPECT_THAT(refusal_of_body("mov.u32 %r1, %clock;"), HasSubstr("nothing declares %clock"));
  EXPECT_THAT(refusal_of_body("@%r1 bra $there;"), HasSubstr("%r1 guards the instruction and is no predicate"));
  EXPECT_THAT(refusal_of_body("bra $nowhere;"), AllOf(HasSubstr("'bra $nowhere'"), HasSubstr("no label $nowhere")));
  EXPECT_THAT(refusal_of_body("ld.global.v2.u32 {%r1, %r2, %r3}, [%rd1];"), HasSubstr("another length"));
}

TEST(PtxReader, RefusesWhatStandsOutsideOfKernels) {
  EXPECT_THAT(refusal_of_text(".global .align 4 .b8 table[16];"), HasSubstr("some.ptx:1: cannot read '.global"));
  EXPECT_THAT(refusal_of_text(".visible .func f() { ret; }"), HasSubstr("entries, and no functions"));
  EXPECT_THAT(refusal_of_text(".address_size 32\n"), HasSubstr("64 bits"));
  EXPECT_THAT(refusal_of_text(".visible .entry f() { ret;"), HasSubstr("nothing closes the body"));
  EXPECT_THAT(refusal_of_text(".visible .entry f() { ret }"), HasSubstr("no semicolon ends 'ret }'"));
  EXPECT_THROW(Module::read("", "empty.ptx").kernel("none"), UsageError);
}

}  // namespace
}  // namespace trigram::ptx
