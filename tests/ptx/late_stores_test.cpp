// Stores that other threads see late.
#include <gtest/gtest.h>

#include <set>

#include "tests/ptx/small_kernels.hpp"

namespace trigram::ptx {
namespace {

constexpr Schedule seen_late{.order = Order::first_ahead, .stores = Stores::late};

std::vector<Schedule> late_schedules() {
  std::vector<Schedule> schedules;
  for (const Stores stores : {Stores::shuffled, Stores::late}) {
    for (const std::uint64_t seed : {1, 2, 3}) schedules.push_back({.seed = seed, .stores = stores});
  }
  return schedules;
}

/// The first warp stores, and the second, which runs behind it, reads.
constexpr const char* behind = R"(
  setp.ge.u32 %p1, %r1, 32;
  @%p1 bra $second;
  st.global.u32 [%rd1], 7;
  membar.gl;
  ret;
$second:
  ld.global.u32 %r2, [%rd1];
  st.global.u32 [%rd2], %r2;)";

TEST(PtxLateStores, OtherWarpsDoNotSeeWhatNothingOrders) {
  EXPECT_EQ(words_after(without(behind, "membar.gl;"), {64}, 64, seen_late)[40], 0U);
  EXPECT_EQ(words_after(without(behind, "membar.gl;"), {64}, 64, {.order = Order::first_ahead})[40], 7U);
}

TEST(PtxLateStores, OtherWarpsSeeWhatAFenceOrders) { EXPECT_EQ(words_after(behind, {64}, 64, seen_late)[40], 7U); }

TEST(PtxLateStores, AllSeeThemOnceTheKernelHasEnded) {
  for (const Schedule& schedule : late_schedules()) {
    const auto words = words_after("st.global.u32 [%rd2], %r1;", {64}, 64, schedule);
    for (std::uint32_t thread = 0; thread < 64; ++thread) ASSERT_EQ(words[thread], thread);
  }
}

/// Each lane reads its own word and its neighbour's.
constexpr const char* own_and_next = R"(
  .shared .align 16 .b8 row[512];
  mov.u32 %r3, row;
  mad.lo.u32 %r4, %r1, 16, %r3;
  xor.b32 %r5, %r4, 16;
  mov.u32 %r6, 0;
  st.shared.v4.u32 [%r4], {%r6, %r6, %r6, %r6};
  bar.warp.sync -1;
  st.shared.v4.u32 [%r4], {%r1, %r1, 3, 4};
  st.shared.u16 [%r4+14], 9;
  bar.warp.sync -1;
  ld.shared.v4.u32 {%r6, %r7, %r8, %r2}, [%r4];
  ld.shared.u16 %r8, [%r5+14];
  mad.lo.u32 %r2, %r8, 1000000, %r2;
  st.global.u32 [%rd2], %r2;)";

TEST(PtxLateStores, LanesSeeTheirOwnStoresAtOnceAndOthersBehindABarrier) {
  EXPECT_EQ(words_after(own_and_next, {32}, 32, seen_late)[5], 9U * 1000000 + 4 + (9U << 16U));
  EXPECT_EQ(words_after(without(own_and_next, "bar.warp.sync -1;"), {32}, 32, seen_late)[5], 4 + (9U << 16U));
  EXPECT_EQ(words_after(without(own_and_next, "bar.warp.sync -1;"), {32}, 32)[5], 9U * 1000000 + 4 + (9U << 16U));
}

/// Blocks count those before them.
TEST(PtxLateStores, OtherBlocksSeeNothingBeforeTheKernelEnds) {
  constexpr const char* count_blocks = "ld.global.u32 %r2, [%rd1];\n add.u32 %r2, %r2, 1;\n st.global.u32 [%rd1], %r2;";
  EXPECT_EQ(words_after(count_blocks, {1}, 1, {}, {5})[0], 5U);
  EXPECT_EQ(words_after(count_blocks, {1}, 1, seen_late, {5})[0], 1U);
}

/// The seed draws which warps see what the first has stored.
TEST(PtxLateStores, AShuffledScheduleShowsThemSoonerOrLater) {
  std::set<std::uint32_t> seen;
  std::string body = without(behind, "membar.gl;");
  body.insert(body.find("ret;"), "st.global.u32 [%rd1+8], 1;\n st.global.u32 [%rd1+16], 1;\n");
  for (std::uint64_t seed = 0; seed < 40; ++seed)
    seen.insert(
        words_after(body, {64}, 64, {.seed = seed, .order = Order::first_ahead, .stores = Stores::shuffled})[40]);
  EXPECT_EQ(seen, (std::set<std::uint32_t>{0, 7}));
}

TEST(PtxLateStores, BarriersOfTheBlockMakeAllSeeThem) {
  constexpr const char* handed_over = R"(
  .shared .align 4 .b8 row[256];
  mov.u32 %r3, row;
  mad.lo.u32 %r4, %r1, 4, %r3;
  xor.b32 %r5, %r4, 128;
  st.shared.u32 [%r4], %r1;
  bar.sync 0;
  ld.shared.u32 %r6, [%r5];
  st.global.u32 [%rd2], %r6;)";
  for (const Schedule& schedule : late_schedules()) {
    const auto words = words_after(handed_over, {64}, 64, schedule);
    for (std::uint32_t thread = 0; thread < 64; ++thread) ASSERT_EQ(words[thread], thread ^ 32U);
  }
  EXPECT_NE(words_after(without(handed_over, "bar.sync 0;"), {64}, 64, seen_late)[40], 40U ^ 32U);
}

}  // namespace
}  // namespace trigram::ptx
