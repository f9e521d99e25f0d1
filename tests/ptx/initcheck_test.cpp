// Reads of what nobody has written.
#include "ptx/checks/initcheck.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/ptx/small_kernels.hpp"

namespace trigram::ptx {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;

/// What is said of a body that runs once over words that nobody has written, but for the first so many.
std::vector<std::string> findings_of(const std::string& body, std::size_t written_words = 0, Dimensions grid = {}) {
  Findings findings;
  UnwrittenMemory global;
  std::vector<std::uint32_t> words(64);
  const auto begin = reinterpret_cast<std::uint64_t>(words.data());
  global.allocated(begin, words.size() * 4);
  global.written(begin, written_words * 4);
  Initcheck initcheck(findings, global);
  run_over(words, body, {32}, {.order = Order::first_ahead}, grid, &initcheck);
  return findings.take();
}

TEST(PtxInitcheck, FindsGlobalMemoryThatNobodyWrote) {
  EXPECT_THAT(findings_of(".loc 1 40 2\n  ld.global.u32 %r2, [%rd2];", 20),
              ElementsAre(MatchesRegex(
                  "initcheck: uninitialized global read of 4 bytes at address 0x[0-9a-f]+, not all of which have been "
                  "written, at 'ld.global.u32 %r2, \\[%rd2\\]' of kernel tried, tried.cu:40 \\(line 15 of the PTX\\), "
                  "in block \\(0,0,0\\), thread \\(20,0,0\\)")));
}

TEST(PtxInitcheck, TakesWhatTheHostOrAKernelWrote) {
  EXPECT_THAT(findings_of("ld.global.u32 %r2, [%rd2];", 32), IsEmpty());
  EXPECT_THAT(findings_of("st.global.u32 [%rd2], %r1;\n ld.global.u32 %r2, [%rd2];"), IsEmpty());
}

TEST(PtxInitcheck, LooksAtEachByte) {
  EXPECT_THAT(findings_of("st.global.u16 [%rd2], 1;\n ld.global.u16 %r2, [%rd2];"), IsEmpty());
  EXPECT_THAT(findings_of("st.global.u16 [%rd2], 1;\n ld.global.u8 %r2, [%rd2+2];"),
              ElementsAre(HasSubstr("thread (0,0,0)")));
  EXPECT_THAT(findings_of("setp.ne.u32 %p1, %r1, 0;\n @%p1 ret;\n ld.global.v2.u32 {%r2, %r3}, [%rd1];", 1),
              ElementsAre(HasSubstr("read of 8 bytes")));
}

TEST(PtxInitcheck, FindsSharedMemoryThatNobodyWrote) {
  constexpr const char* left = R"(
  .shared .align 4 .b8 row[128];
  mov.u32 %r2, row;
  mad.lo.u32 %r3, %r1, 4, %r2;
  setp.eq.u32 %p1, %r1, 9;
  @!%p1 st.shared.u32 [%r3], %r1;
  bar.sync 0;
  ld.shared.u32 %r4, [%r3];)";
  EXPECT_THAT(findings_of(left), ElementsAre(AllOf(HasSubstr("uninitialized shared read of 4 bytes at address 0x24,"),
                                                   HasSubstr("thread (9,0,0)"))));
  std::string whole = left;
  whole.erase(whole.find("@!%p1"), 6);
  EXPECT_THAT(findings_of(whole), IsEmpty());
}

/// What one block leaves is nothing that another has written.
TEST(PtxInitcheck, EachBlockBeginsWithItsSharedMemoryUnwritten) {
  constexpr const char* first_writes = R"(
  .shared .align 4 .b8 word[4];
  mov.u32 %r2, %ctaid.x;
  setp.eq.u32 %p1, %r2, 0;
  @%p1 st.shared.u32 [word], 1;
  bar.sync 0;
  ld.shared.u32 %r3, [word];)";
  EXPECT_THAT(findings_of(first_writes), IsEmpty());
  EXPECT_THAT(findings_of(first_writes, 0, {2}), ElementsAre(HasSubstr("in block (1,0,0)")));
}

TEST(PtxInitcheck, FindsLocalMemoryOfTheThreadThatDidNotWriteIts) {
  constexpr const char* local = R"(
  .local .align 8 .b8 l[16];
  setp.ne.u32 %p1, %r1, 7;
  @%p1 st.local.u32 [l+8], %r1;
  ld.local.u32 %r2, [l+8];)";
  EXPECT_THAT(findings_of(local), ElementsAre(AllOf(HasSubstr("uninitialized local read of 4 bytes at address 0x8,"),
                                                    HasSubstr("thread (7,0,0)"))));
}

/// Threads' addresses follow one another, and are still of different memory.
TEST(PtxInitcheck, EachThreadHasItsOwnLocalMemory) {
  constexpr const char* own = R"(
  .local .align 8 .b8 l[128];
  mov.u64 %rd3, l;
  mad.wide.u32 %rd4, %r1, 4, %rd3;
  st.local.u32 [%rd4], %r1;
  and.b32 %r2, %r1, 1;
  setp.eq.u32 %p1, %r2, 1;
  @%p1 ld.local.u32 %r3, [%rd4];)";
  EXPECT_THAT(findings_of(own), IsEmpty());
}

TEST(PtxInitcheck, ACopyOfUnwrittenBytesIsUnwritten) {
  UnwrittenMemory memory;
  memory.allocated(10000, 9000);
  memory.written(10000, 4096);
  memory.copied(50000, 13000, 2000);
  EXPECT_EQ(memory.first_in(50000, 2000), 50000 + 14096 - 13000);
  memory.copied(10000, 13000, 1000);
  EXPECT_EQ(memory.first_in(10000, 9000), 14096);
  memory.copied(14096, 10000, 4096);
  EXPECT_EQ(memory.first_in(10000, 9000), 10000 + 8192);
}

TEST(PtxInitcheck, SaysTheSameOnce) {
  EXPECT_THAT(findings_of("ld.global.u32 %r2, [%rd2];\n ld.global.u32 %r3, [%rd2+4];", 0, {3}), testing::SizeIs(2));
}

}  // namespace
}  // namespace trigram::ptx
