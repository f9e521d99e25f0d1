// What the meter counts, on accesses whose sectors, banks and lanes follow from a closed form.
#include "ptx/meter/meter.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "ptx/meter/memory_traffic.hpp"
#include "tests/ptx/small_kernels.hpp"

namespace trigram::ptx {
namespace {

/// An access of all lanes, each `stride` bytes behind the one before.
struct Strided {
  Strided(std::uint32_t bytes, std::uint64_t stride, std::uint64_t begin = 0, std::uint32_t lanes = all_lanes)
      : access{instruction, Space::global, Access::read, lanes, bytes, addresses} {
    for (std::uint64_t lane = 0; lane < lanes_of_warp; ++lane) addresses[lane] = begin + lane * stride;
  }
  Strided(const Strided&) = delete;
  Strided& operator=(const Strided&) = delete;

  Instruction instruction;
  Addresses addresses{};
  WarpAccess access;
};

TEST(Sectors, OfWordsGrowWithTheirStrideUpToOneALane) {
  for (std::uint64_t stride = 1; stride <= 64; ++stride) {
    const Strided words(4, 4 * stride, 4096);
    // The last word begins 31·stride words behind the first; from 8 words on each lane has a sector of its own.
    const std::uint64_t expected = stride >= 8 ? 32 : (31 * stride) / 8 + 1;
    EXPECT_EQ(sectors_of(words.access).touched.size(), expected) << stride;
    EXPECT_EQ(sectors_of(words.access).useful_bytes, 128) << stride;
  }
}

TEST(Sectors, OfARowThatBeginsBesideTheirBoundaryAreOneMore) {
  for (std::uint64_t begin = 0; begin < 64; begin += 4)
    EXPECT_EQ(sectors_of(Strided(4, 4, begin).access).touched.size(), begin % 32 == 0 ? 4U : 5U) << begin;
}

TEST(Sectors, OfVectorsOfSixteenBytes) {
  const Strided row(16, 16), half_used(16, 64);
  EXPECT_EQ(sectors_of(row.access).touched.size(), 16U);
  EXPECT_EQ(sectors_of(row.access).useful_bytes, 512U);
  // Each lane takes one half of a sector of its own.
  EXPECT_EQ(sectors_of(half_used.access).touched.size(), 32U);
  EXPECT_EQ(sectors_of(half_used.access).useful_bytes, 512U);
}

TEST(Sectors, OfOneWordForAllAndOfSomeLanes) {
  EXPECT_EQ(sectors_of(Strided(4, 0).access).touched.size(), 1U);
  EXPECT_EQ(sectors_of(Strided(4, 0).access).useful_bytes, 4U);
  for (std::uint32_t lanes = 1; lanes <= 32; ++lanes) {
    const Strided first(4, 32, 0, all_lanes >> (32 - lanes));
    EXPECT_EQ(sectors_of(first.access).touched.size(), lanes);
    EXPECT_EQ(sectors_of(first.access).useful_bytes, 4 * lanes);
  }
}

// Words i·stride and j·stride lie in one bank where 32 divides (i − j)·stride: gcd(stride, 32) lanes share each.
TEST(Banks, OfAStrideConflictByItsGreatestCommonDivisor) {
  for (std::uint32_t stride = 1; stride <= 64; ++stride) {
    const Wavefronts found = wavefronts_of(Strided(4, 4 * stride).access);
    EXPECT_EQ(found.needed, 1U);
    EXPECT_EQ(found.taken, std::gcd(stride, 32U)) << stride;
  }
}

TEST(Banks, GiveOneWordToAllWhoReadIt) {
  EXPECT_EQ(wavefronts_of(Strided(4, 0).access).taken, 1U);
  EXPECT_EQ(wavefronts_of(Strided(1, 1).access).taken, 1U);
  EXPECT_EQ(wavefronts_of(Strided(2, 2).access).taken, 1U);
}

TEST(Banks, AnswerWideAccessesInParts) {
  for (const auto& [bytes, parts] : {std::pair(8U, 2U), std::pair(16U, 4U)}) {
    const Wavefronts row = wavefronts_of(Strided(bytes, bytes).access),
                     apart = wavefronts_of(Strided(bytes, 128).access);
    EXPECT_EQ(row.needed, parts);
    EXPECT_EQ(row.taken, parts);
    EXPECT_EQ(apart.taken, 32U) << "all lanes of each part in the same banks";
  }
  EXPECT_EQ(wavefronts_of(Strided(16, 16, 0, 0xFF).access).needed, 1U) << "one quarter takes part";
}

KernelCounts counted(const std::string& body, Dimensions block, Dimensions grid = {}) {
  Meter meter;
  const auto observer = meter.observer();
  words_after(body, block, 8192, {}, grid, observer.get());
  return meter.take().at("tried");
}

std::uint64_t of(const KernelCounts& counts, InstructionClass one) {
  return counts.instructions[static_cast<std::size_t>(one)];
}

TEST(Meter, CountsInstructionsOfWarpsByClass) {
  const std::string nothing = "ret;";
  const std::string body =
      ".reg .f32 %f<9>; .reg .f64 %fd<9>; ld.global.u32 %r2, [%rd2]; add.s32 %r3, %r2, 1; add.s32 %r3, %r3, %r2; "
      "cvt.rn.f32.u32 %f1, %r3;"
      "mul.rn.f32 %f2, %f1, %f1; cvt.f64.f32 %fd1, %f2; add.rn.f64 %fd2, %fd1, %fd1; bar.sync 0;"
      "shfl.sync.bfly.b32 %r4|%p1, %r3, 1, 31, -1; setp.lt.f32 %p2, %f1, %f2; selp.b32 %r5, %r3, %r4, %p2;"
      "st.global.u32 [%rd2], %r5; ret;";
  const KernelCounts before = counted(nothing, {64}, {3}), after = counted(body, {64}, {3});
  constexpr std::uint64_t warps = 6;
  const auto more = [&](InstructionClass one) { return (of(after, one) - of(before, one)) / warps; };
  using enum InstructionClass;
  EXPECT_EQ(more(global_load), 1U);
  EXPECT_EQ(more(global_store), 1U);
  EXPECT_EQ(more(integer), 2U);
  EXPECT_EQ(more(conversion), 2U);
  EXPECT_EQ(more(float32), 2U);
  EXPECT_EQ(more(float64), 1U);
  EXPECT_EQ(more(barrier), 1U);
  EXPECT_EQ(more(exchange), 1U);
  EXPECT_EQ(more(move), 1U);
  EXPECT_EQ(more(control), 0U);
  EXPECT_EQ(after.all_instructions() - before.all_instructions(), 12 * warps);
  EXPECT_EQ(after.blocks, 3U);
  EXPECT_EQ(after.threads, 64U);
}

TEST(Meter, CountsSectorsOfRequestsAndOfALaunch) {
  const KernelCounts counts = counted("ld.global.u32 %r2, [%rd2]; st.global.u32 [%rd2], %r2; ret;", {64}, {3});
  // Three blocks of two warps go over the same 64 words, which begin where the host's memory does.
  for (const GlobalCounts* one : {&counts.loads, &counts.stores}) {
    EXPECT_EQ(one->requests, 6U);
    EXPECT_EQ(one->useful_bytes, 6U * 128);
    EXPECT_GE(one->different, 8U);
    EXPECT_LE(one->different, 9U);
    EXPECT_GE(one->sectors, 6U * 4);
    EXPECT_LE(one->sectors, 6U * 5);
  }
}

TEST(Meter, CountsBanksOfSharedMemory) {
  // Lane l writes the word 8·l, as shared memory's addresses count.
  const KernelCounts counts = counted(
      ".shared .align 4 .b8 row[1024]; mov.u32 %r2, row; mul.lo.s32 %r3, %r1, 32; add.s32 %r2, %r2, %r3;"
      "st.shared.u32 [%r2], %r1; ret;",
      {32});
  EXPECT_EQ(counts.shared_requests, 1U);
  EXPECT_EQ(counts.wavefronts_needed, 1U);
  EXPECT_EQ(counts.wavefronts, 8U);
}

// Half of the lanes take three instructions that the others pass by.
TEST(Meter, CountsLanesThatRunTogether) {
  const std::string head = "setp.lt.u32 %p1, %r1, 16; @%p1 bra SOME; bra ALL; SOME:";
  const std::string extra = "add.s32 %r2, %r1, 1; add.s32 %r2, %r2, 1; add.s32 %r2, %r2, 1;";
  const KernelCounts with = counted(head + extra + "ALL: ret;", {32}), without = counted(head + "ALL: ret;", {32});
  EXPECT_EQ(with.all_instructions() - without.all_instructions(), 3U);
  EXPECT_EQ(with.lanes_together - without.lanes_together, 3U * 16);
}

TEST(Meter, CountsLanesThatAGuardTurnsOff) {
  const KernelCounts counts = counted("setp.lt.u32 %p1, %r1, 8; @%p1 add.s32 %r2, %r1, 1; ret;", {32});
  EXPECT_EQ(counts.lanes_together - counts.lanes_active, 32U - 8);
}

TEST(Meter, HasCountsOnce) {
  Meter meter;
  const auto observer = meter.observer();
  words_after("ret;", {32}, 32, {}, {}, observer.get());
  EXPECT_EQ(meter.take().size(), 1U);
  EXPECT_TRUE(meter.take().empty());
}

}  // namespace
}  // namespace trigram::ptx
