// Races between threads of a launch.
#include "ptx/checks/racecheck.hpp"

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
using testing::Not;
using testing::SizeIs;

std::vector<std::string> races_of(const std::string& body, Dimensions block = {64}, Dimensions grid = {}) {
  Findings findings;
  for (const Order order : {Order::first_ahead, Order::last_ahead}) {
    Racecheck racecheck(findings);
    words_after(body, block, 256, {.order = order}, grid, &racecheck);
    auto found = findings.take();
    if (!found.empty()) return found;
  }
  return {};
}

/// Every thread reads what its neighbour in the block wrote, twice.
constexpr const char* pass_on = R"(
  .shared .align 4 .b8 row[256];
  mov.u32 %r3, row;
  mad.lo.u32 %r4, %r1, 4, %r3;
  xor.b32 %r5, %r4, 128;
  .loc 1 40 2
  st.shared.u32 [%r4], %r1;
  bar.sync 0;
  .loc 1 42 2
  ld.shared.u32 %r6, [%r5];
  bar.sync 0;
  st.shared.u32 [%r4], %r6;)";

TEST(PtxRacecheck, BarriersOfTheBlockOrderItsThreads) { EXPECT_THAT(races_of(pass_on), IsEmpty()); }

TEST(PtxRacecheck, FindsAReadBeforeTheBarrierThatOrdersIt) {
  const std::string racing = with(pass_on, "bar.sync 0;", "");
  EXPECT_THAT(races_of(racing),
              testing::Contains(MatchesRegex(
                  "racecheck: read after write hazard at address 0x[0-9a-f]+ of shared memory: nothing orders the read "
                  "at 'ld.shared.u32 %r6, \\[%r5\\]' of kernel tried, tried.cu:42 .line [0-9]+ of the PTX., in block "
                  ".0,0,0., thread .[0-9]+,0,0., and the write at 'st.shared.u32 \\[%r4\\], %r1' of kernel tried, "
                  "tried.cu:40 .line [0-9]+ of the PTX., in block .0,0,0., thread .[0-9]+,0,0.")));
}

TEST(PtxRacecheck, FindsAWriteBeforeAllHaveRead) {
  EXPECT_THAT(races_of(without(pass_on, "bar.sync 0;")),
              testing::Contains(HasSubstr("racecheck: write after read hazard at address 0x")));
}

/// Lanes of a warp do as pass_on.
constexpr const char* pass_on_in_warp = R"(
  .shared .align 4 .b8 row[256];
  mov.u32 %r3, row;
  mad.lo.u32 %r4, %r1, 4, %r3;
  xor.b32 %r5, %r4, 32;
  st.shared.u32 [%r4], %r1;
  bar.warp.sync -1;
  ld.shared.u32 %r6, [%r5];
  bar.warp.sync -1;
  st.shared.u32 [%r4], %r6;)";

TEST(PtxRacecheck, BarriersOfAWarpOrderItsLanes) {
  EXPECT_THAT(races_of(pass_on_in_warp), IsEmpty());
  EXPECT_THAT(races_of(without(pass_on_in_warp, "bar.warp.sync -1;")), ElementsAre(HasSubstr("write after read")));
  EXPECT_THAT(races_of(with(pass_on_in_warp, "bar.warp.sync -1;", "")), ElementsAre(HasSubstr("read after write")));
}

/// Partners differ in bit 3 of their lanes: 8 and 0 meet in a mask of sixteen, and not in one of eight.
TEST(PtxRacecheck, BarriersOfSomeLanesOrderThose) {
  constexpr const char* sixteen = "mov.u32 %r7, %laneid;\n and.b32 %r7, %r7, 16;\n shl.b32 %r8, 0xFFFF, %r7;\n";
  constexpr const char* eight = "mov.u32 %r7, %laneid;\n and.b32 %r7, %r7, 24;\n shl.b32 %r8, 0xFF, %r7;\n";
  const std::string body = with(with(pass_on_in_warp, "sync -1", "sync %r8"), "sync -1", "sync %r8");
  EXPECT_THAT(races_of(sixteen + body), IsEmpty());
  EXPECT_THAT(races_of(eight + body), Not(IsEmpty()));
}

/// Lane 20 reads what lane 4 wrote, and meets lanes that met it.
TEST(PtxRacecheck, WhoMeetsIsBehindWhatOthersHaveMet) {
  constexpr const char* chain = R"(
  .shared .align 4 .b8 row[128];
  mov.u32 %r3, row;
  mad.lo.u32 %r4, %r1, 4, %r3;
  st.shared.u32 [%r4], %r1;
  setp.lt.u32 %p1, %r1, 16;
  @%p1 bar.warp.sync 0xFFFF;
  setp.ge.u32 %p2, %r1, 8;
  setp.lt.and.u32 %p3, %r1, 24, %p2;
  @%p3 bar.warp.sync 0xFFFF00;
  setp.ne.u32 %p4, %r1, 20;
  @%p4 ret;
  ld.shared.u32 %r5, [row+16];)";
  EXPECT_THAT(races_of(chain, {32}), IsEmpty());
  EXPECT_THAT(races_of(with(chain, "@%p1 bar.warp.sync 0xFFFF;", ""), {32}), Not(IsEmpty()));
}

TEST(PtxRacecheck, BarriersOfAWarpOrderNoOtherWarps) {
  EXPECT_THAT(races_of(with(pass_on_in_warp, ", 32;", ", 128;")), Not(IsEmpty()));
}

TEST(PtxRacecheck, AnExchangeOrdersNoMemory) {
  EXPECT_THAT(races_of(with(pass_on_in_warp, "bar.warp.sync -1;", "shfl.sync.idx.b32 %r7, %r1, 0, 31, -1;")),
              ElementsAre(HasSubstr("read after write")));
}

TEST(PtxRacecheck, LanesThatWriteOneWordTogetherRaceUnlessTheyWriteTheSame) {
  EXPECT_THAT(races_of("st.global.u32 [%rd1], 7;", {64}, {3}), IsEmpty());
  EXPECT_THAT(races_of("st.global.u32 [%rd1], %r1;", {32}),
              ElementsAre(AllOf(HasSubstr("write after write hazard at address 0x"), HasSubstr("of global memory"),
                                HasSubstr("thread (1,0,0)"), HasSubstr("thread (0,0,0)"))));
}

TEST(PtxRacecheck, StrongWritesDoNotRaceWithEachOther) {
  EXPECT_THAT(races_of("st.volatile.global.u32 [%rd1], %r1;", {64}, {2}), IsEmpty());
  EXPECT_THAT(races_of("st.volatile.global.u32 [%rd1], %r1;\n ld.global.u32 %r2, [%rd1];", {64}), Not(IsEmpty()));
}

/// Each block sums the words of the one before it.
TEST(PtxRacecheck, NothingOrdersBlocks) {
  constexpr const char* own = "mov.u32 %r2, %ctaid.x;\n mad.wide.u32 %rd3, %r2, 128, %rd2;\n";
  const std::string right = std::string(own) + "st.global.u32 [%rd3], %r1;\n ld.global.u32 %r3, [%rd3];";
  EXPECT_THAT(races_of(right, {32}, {3}), IsEmpty());
  const std::string wrong = std::string(own) + "st.global.u32 [%rd3], %r1;\n ld.global.u32 %r3, [%rd3+128];";
  EXPECT_THAT(races_of(wrong, {32}, {3}),
              ElementsAre(AllOf(HasSubstr("in block (1,0,0)"), HasSubstr("in block (0,0,0)"))));
  EXPECT_THAT(races_of("ld.global.u32 %r2, [%rd2];", {32}, {3}), IsEmpty()) << "all may read the same";
  EXPECT_THAT(races_of("ld.global.u32 %r2, [%rd2];\n bar.sync 0;\n st.global.u32 [%rd2], %r2;", {32}, {3}),
              ElementsAre(AllOf(HasSubstr("read after write"), HasSubstr("in block (1,0,0)"))));
}

/// All lanes read a word that one of them writes afterwards, behind a barrier that the others have not passed.
TEST(PtxRacecheck, RemembersAllReaders) {
  constexpr const char* one_writes = R"(
  ld.global.u32 %r2, [%rd1];
  bar.warp.sync -1;
  ld.global.u32 %r3, [%rd1];
  setp.ne.u32 %p1, %r1, 31;
  @%p1 ret;
  st.global.u32 [%rd1], %r1;)";
  EXPECT_THAT(races_of(one_writes, {32}),
              ElementsAre(AllOf(HasSubstr("write after read"), HasSubstr("'ld.global.u32 %r3, [%rd1]'"))));
  EXPECT_THAT(races_of(without(one_writes, "ld.global.u32 %r3, [%rd1];"), {32}), IsEmpty());
  EXPECT_THAT(races_of(without(one_writes, "ld.global.u32 %r3, [%rd1];"), {64}), Not(IsEmpty()))
      << "the other warp reads, too";
}

/// Of two warps, and of two blocks, each first thread reads a word that the second of them writes.
TEST(PtxRacecheck, RemembersReadersOfOtherWarpsAndBlocks) {
  constexpr const char* second_writes = R"(
  mov.u32 %r2, %ctaid.x;
  shl.b32 %r3, %r1, 4;
  or.b32 %r2, %r2, %r3;
  and.b32 %r3, %r1, 31;
  setp.ne.u32 %p1, %r3, 0;
  @%p1 ret;
  ld.global.u32 %r4, [%rd1];
  setp.eq.u32 %p2, %r2, 0;
  @%p2 ret;
  st.global.u32 [%rd1], %r2;)";
  EXPECT_THAT(races_of(second_writes, {64}), ElementsAre(HasSubstr("write after read")));
  EXPECT_THAT(races_of(second_writes, {32}, {2}), ElementsAre(HasSubstr("write after read")));
  EXPECT_THAT(races_of(second_writes, {32}), IsEmpty());
}

/// Lane 2 meets one of two readers, and then reads and writes what both have read.
TEST(PtxRacecheck, RemembersReadersThatALaterOneHasNotMet) {
  constexpr const char* one_is_met = R"(
  setp.lt.u32 %p1, %r1, 2;
  @%p1 ld.global.u32 %r2, [%rd1];
  sub.u32 %r3, %r1, 1;
  setp.lt.u32 %p2, %r3, 2;
  @%p2 bar.warp.sync 6;
  setp.ne.u32 %p3, %r1, 2;
  @%p3 ret;
  ld.global.u32 %r2, [%rd1];
  st.global.u32 [%rd1], %r1;)";
  EXPECT_THAT(races_of(one_is_met, {32}),
              ElementsAre(AllOf(HasSubstr("write after read"), HasSubstr("thread (0,0,0)"))));
  EXPECT_THAT(races_of(with(one_is_met, "%r1, 2;\n  @%p1", "%r3, 0;\n  @%p1"), {32}), IsEmpty()) << "none has read";
}

TEST(PtxRacecheck, EachBlockHasItsOwnSharedMemory) { EXPECT_THAT(races_of(pass_on, {64}, {3}), IsEmpty()); }

TEST(PtxRacecheck, AStrongWriteRacesWithAWeakOne) {
  const std::string of_thread_0 = "setp.eq.u32 %p1, %r1, 0;\n @%p1 st",
                    of_thread_1 = "setp.eq.u32 %p1, %r1, 1;\n @%p1 st";
  constexpr const char *weak = ".global.u32 [%rd1], 1;\n", *strong = ".volatile.global.u32 [%rd1], 2;\n";
  EXPECT_THAT(races_of(of_thread_0 + weak + of_thread_1 + strong), ElementsAre(HasSubstr("write after write")));
  EXPECT_THAT(races_of(of_thread_0 + strong + of_thread_1 + weak), ElementsAre(HasSubstr("write after write")));
  EXPECT_THAT(races_of(of_thread_0 + strong + of_thread_1 + strong), IsEmpty());
}

TEST(PtxRacecheck, LooksAtEachByteOfAWord) {
  constexpr const char* third_byte = R"(
  setp.eq.u32 %p1, %r1, 0;
  @%p1 st.global.u8 [%rd1+2], 1;
  setp.eq.u32 %p2, %r1, 5;
  @%p2 ld.global.u32 %r2, [%rd1];)";
  EXPECT_THAT(races_of(third_byte), SizeIs(1));
}

TEST(PtxRacecheck, BytesBesideEachOtherDoNotRace) {
  EXPECT_THAT(races_of("cvt.u64.u32 %rd3, %r1;\n add.u64 %rd4, %rd1, %rd3;\n st.global.u8 [%rd4], %r1;", {64}),
              IsEmpty());
  EXPECT_THAT(races_of("cvt.u64.u32 %rd3, %r1;\n add.u64 %rd4, %rd1, %rd3;\n st.global.u8 [%rd4], %r1;\n"
                       "setp.ne.u32 %p1, %r1, 40;\n @%p1 ret;\n ld.global.u32 %r2, [%rd1];",
                       {64}),
              SizeIs(1));
}

}  // namespace
}  // namespace trigram::ptx
