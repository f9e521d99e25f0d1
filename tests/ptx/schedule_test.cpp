// What a schedule decides, and what it must not change.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "core/values/error.hpp"
#include "tests/ptx/small_kernels.hpp"

namespace trigram::ptx {
namespace {

constexpr Schedule first{.order = Order::first_ahead}, last{.order = Order::last_ahead};

std::vector<Schedule> all_schedules() {
  std::vector<Schedule> schedules;
  for (const Order order : {Order::shuffled, Order::first_ahead, Order::last_ahead}) {
    for (const Reconvergence reconvergence : {Reconvergence::early, Reconvergence::late}) {
      for (const std::uint64_t seed : {1, 2, 3})
        schedules.push_back({.seed = seed, .order = order, .reconvergence = reconvergence});
    }
  }
  return schedules;
}

/// Each block adds its digit behind those of the blocks before it.
constexpr const char* note_block = R"(
  mov.u32 %r2, %ctaid.x;
  ld.global.u32 %r3, [%rd1];
  mad.lo.u32 %r4, %r3, 10, %r2;
  st.global.u32 [%rd1], %r4;)";

std::uint32_t order_of_blocks(Schedule schedule) { return words_after(note_block, {1}, 1, schedule, {5}).front(); }

TEST(PtxSchedule, BlocksRunInItsOrder) {
  EXPECT_EQ(order_of_blocks(first), 1234U);
  EXPECT_EQ(order_of_blocks(last), 43210U);
  std::set<std::uint32_t> orders;
  for (std::uint64_t seed = 0; seed < 20; ++seed) orders.insert(order_of_blocks({.seed = seed}));
  EXPECT_GT(orders.size(), 10U);
}

TEST(PtxSchedule, TheSameSeedGivesTheSameRun) {
  for (const std::uint64_t seed : {1, 7}) EXPECT_EQ(order_of_blocks({.seed = seed}), order_of_blocks({.seed = seed}));
}

/// A race: the first thread of each of four warps adds its digit, one a hundred turns of a loop later.
constexpr const char* note_warp = R"(
  mov.u32 %r2, 0;
$turn:
  add.u32 %r2, %r2, 1;
  setp.lt.u32 %p1, %r2, 100;
  @%p1 bra $turn;
  and.b32 %r3, %r1, 31;
  setp.ne.u32 %p2, %r3, 0;
  @%p2 bra $done;
  shr.u32 %r4, %r1, 5;
  ld.global.u32 %r5, [%rd1];
  mad.lo.u32 %r6, %r5, 10, %r4;
  st.global.u32 [%rd1], %r6;
$done:)";

TEST(PtxSchedule, OneWarpGoesAheadOfTheOthers) {
  EXPECT_EQ(words_after(note_warp, {128}, 1, first).front(), 123U);
  EXPECT_EQ(words_after(note_warp, {128}, 1, last).front(), 3210U);
  std::set<std::uint32_t> orders;
  for (std::uint64_t seed = 0; seed < 20; ++seed)
    orders.insert(words_after(note_warp, {128}, 1, {.seed = seed}).front());
  EXPECT_GT(orders.size(), 5U);
}

/// Lanes part, and all of them note which others are beside them once their paths meet again.
constexpr const char* note_company = R"(
  setp.lt.u32 %p1, %r1, 8;
  @%p1 bra $meet;
  mov.u32 %r2, 1;
$meet:
  activemask.b32 %r3;
  st.global.u32 [%rd2], %r3;)";

TEST(PtxSchedule, LanesMeetAgainEarlyOrLate) {
  EXPECT_EQ(words_after(note_company, {32}, 32, {.reconvergence = Reconvergence::early})[0], 0xFFFFFFFF);
  const auto late = words_after(note_company, {32}, 32, {.reconvergence = Reconvergence::late});
  EXPECT_EQ(late[0], 0xFFU);
  EXPECT_EQ(late[8], 0xFFFFFF00U);
}

/// Every thread gives its square to its right neighbour in a block of three warps, a hundred times.
constexpr const char* pass_between_warps = R"(
  .shared .align 4 .b8 row[384];
  mul.lo.u32 %r2, %r1, %r1;
  mov.u32 %r3, row;
  mad.lo.u32 %r4, %r1, 4, %r3;
  add.u32 %r5, %r1, 95;
  rem.u32 %r5, %r5, 96;
  mad.lo.u32 %r5, %r5, 4, %r3;
  mov.u32 %r6, 0;
$turn:
  st.shared.u32 [%r4], %r2;
  bar.sync 0;
  ld.shared.u32 %r2, [%r5];
  bar.sync 0;
  add.u32 %r6, %r6, 1;
  setp.lt.u32 %p1, %r6, 100;
  @%p1 bra $turn;
  st.global.u32 [%rd2], %r2;)";

TEST(PtxSchedule, BarriersMakeAllSchedulesAgree) {
  for (const Schedule& schedule : all_schedules()) {
    const auto words = words_after(pass_between_warps, {96}, 96, schedule);
    for (std::uint32_t thread = 0; thread < 96; ++thread) {
      const std::uint32_t from = (thread + 2 * 96 - 100) % 96;
      ASSERT_EQ(words[thread], from * from) << "thread " << thread;
    }
  }
}

/// Without the second barrier a warp may overwrite what another has not yet read.
TEST(PtxSchedule, SomeScheduleShowsThatABarrierIsMissing) {
  std::string racing = pass_between_warps;
  racing.erase(racing.rfind("bar.sync 0;"), 11);
  const auto right = words_after(pass_between_warps, {96}, 96);
  const auto schedules = all_schedules();
  EXPECT_TRUE(
      std::ranges::any_of(schedules, [&](const Schedule& s) { return words_after(racing, {96}, 96, s) != right; }));
}

/// Lanes of each parity add up their loop's turns, as many as their numbers, and exchange the sums where they meet.
constexpr const char* diverge = R"(
  mov.u32 %r2, 0;
  mov.u32 %r3, 0;
  and.b32 %r4, %r1, 1;
  setp.eq.u32 %p1, %r4, 0;
$turn:
  setp.ge.u32 %p2, %r2, %r1;
  @%p2 bra $done;
  add.u32 %r2, %r2, 1;
  @!%p1 bra $odd;
  add.u32 %r3, %r3, 2;
  bra.uni $turn;
$odd:
  add.u32 %r3, %r3, 3;
  bra.uni $turn;
$done:
  shfl.sync.bfly.b32 %r5, %r3, 1, 31, -1;
  st.global.u32 [%rd2], %r5;)";

TEST(PtxSchedule, DivergenceLeavesResultsAsTheyAre) {
  for (const Schedule& schedule : all_schedules()) {
    const auto words = words_after(diverge, {64}, 64, schedule);
    for (std::uint32_t thread = 0; thread < 64; ++thread) {
      const std::uint32_t from = thread ^ 1;
      ASSERT_EQ(words[thread], from * (from % 2 == 0 ? 2 : 3)) << "thread " << thread;
    }
  }
}

TEST(PtxSchedule, HalvesOfAWarpWaitForThemselvesAlone) {
  constexpr const char* halves = R"(
  setp.lt.u32 %p1, %r1, 16;
  selp.b32 %r2, 0xFFFF, 0xFFFF0000, %p1;
  @%p1 bra $low;
  bar.warp.sync %r2;
  bra.uni $both;
$low:
  bar.warp.sync %r2;
$both:
  shfl.sync.idx.b32 %r3, %r1, 3, 0x101F, %r2;
  st.global.u32 [%rd2], %r3;)";
  for (const Schedule& schedule : all_schedules()) {
    const auto words = words_after(halves, {32}, 32, schedule);
    EXPECT_EQ(words[0], 3U);
    EXPECT_EQ(words[31], 19U);
  }
}

TEST(PtxSchedule, BarriersOfAWarpMeetAtDifferentInstructions) {
  constexpr const char* apart = R"(
  setp.lt.u32 %p1, %r1, 16;
  @%p1 bra $low;
  bar.warp.sync -1;
  bra.uni $both;
$low:
  bar.warp.sync -1;
$both:
  shfl.sync.idx.b32 %r2, %r1, 31, 31, -1;
  st.global.u32 [%rd2], %r2;)";
  for (const Schedule& schedule : all_schedules()) EXPECT_EQ(words_after(apart, {32}, 32, schedule)[0], 31U);
}

TEST(PtxLaunch, RefusesBlocksThatTheKernelDoesNotTake) {
  const Module module = Module::read(".visible .entry k()\n.maxntid 64, 1, 1\n{ ret; }", "k.ptx");
  HostMemory memory;
  EXPECT_NO_THROW(launch(module.kernel("k"), {.block = {64}}, memory, {}));
  EXPECT_THROW(launch(module.kernel("k"), {.block = {65}}, memory, {}), UsageError);
  EXPECT_THROW(launch(module.kernel("k"), {.block = {0}}, memory, {}), UsageError);
  EXPECT_THROW(launch(module.kernel("k"), {.grid = {0}, .block = {1}}, memory, {}), UsageError);
  const std::byte superfluous[8] = {};
  EXPECT_THROW(launch(module.kernel("k"), {.block = {1}, .parameters = superfluous}, memory, {}), UsageError);
}

TEST(PtxLaunch, ThreadsKnowWhereTheyAre) {
  constexpr const char* places = R"(
  mov.u32 %r2, %tid.y; mov.u32 %r3, %tid.z; mov.u32 %r4, %ntid.x; mov.u32 %r5, %ntid.y;
  mad.lo.u32 %r6, %r3, %r5, %r2;
  mad.lo.u32 %r6, %r6, %r4, %r1;
  mad.wide.u32 %rd3, %r6, 4, %rd1;
  mov.u32 %r7, %laneid;
  mad.lo.u32 %r6, %r6, 100, %r7;
  st.global.u32 [%rd3], %r6;)";
  const auto words = words_after(places, {5, 4, 3}, 60);
  for (std::uint32_t thread = 0; thread < 60; ++thread) EXPECT_EQ(words[thread], 100 * thread + thread % 32);
}

}  // namespace
}  // namespace trigram::ptx
