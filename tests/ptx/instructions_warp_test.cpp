// Instructions in which lanes of a warp take part together, as the PTX ISA defines them.
#include <gtest/gtest.h>

#include <functional>
#include <optional>

#include "tests/ptx/one_instruction.hpp"

namespace trigram::ptx {
namespace {

constexpr std::uint32_t lanes_of_a_warp = 32;

/// Each lane's first input is 100 + its number; `others` gives the rest.
std::vector<Inputs> warp(const std::function<Inputs(std::uint32_t)>& others = {}) {
  std::vector<Inputs> lanes;
  for (std::uint32_t lane = 0; lane < lanes_of_a_warp; ++lane) {
    lanes.push_back({100 + lane});
    if (!others) continue;
    for (const Bits& input : others(lane)) lanes.back().push_back(input);
  }
  return lanes;
}

/// From which lane a lane has its value; none is its own, since what it asked for is out of range.
using Source = std::function<std::optional<std::uint32_t>(std::uint32_t)>;

void expect_shuffled(const std::string& body, const Source& source, const std::vector<Inputs>& lanes = warp()) {
  const std::vector<Outcome> outcomes = run(body, lanes);
  for (std::uint32_t lane = 0; lane < lanes_of_a_warp; ++lane) {
    const std::optional<std::uint32_t> from = source(lane);
    EXPECT_EQ(outcomes[lane].first, 100 + from.value_or(lane)) << body << ", lane " << lane;
    if (body.find("%p9") != std::string::npos) {
      EXPECT_EQ(outcomes[lane].second, from.has_value() ? 1U : 0U) << body << ", lane " << lane;
    }
  }
}

TEST(PtxWarp, ShufflesOfAWholeWarp) {
  expect_shuffled("shfl.sync.bfly.b32 %r0|%p9, %r1, 1, 31, -1;",
                  [](auto lane) { return lane % 2 == 0 ? lane + 1 : lane - 1; });
  expect_shuffled("shfl.sync.bfly.b32 %r0|%p9, %r1, 16, 31, -1;", [](auto lane) { return (lane + 16) % 32; });
  expect_shuffled("shfl.sync.bfly.b32 %r0, %r1, 31, 31, -1;", [](auto lane) { return 31 - lane; });
  expect_shuffled("shfl.sync.down.b32 %r0|%p9, %r1, 5, 31, -1;", [](auto lane) -> std::optional<std::uint32_t> {
    if (lane >= 27) return std::nullopt;
    return lane + 5;
  });
  expect_shuffled("shfl.sync.up.b32 %r0|%p9, %r1, 3, 0, -1;", [](auto lane) -> std::optional<std::uint32_t> {
    if (lane < 3) return std::nullopt;
    return lane - 3;
  });
  expect_shuffled("shfl.sync.idx.b32 %r0|%p9, %r1, 7, 31, -1;", [](auto) { return 7; });
  expect_shuffled("shfl.sync.down.b32 %r0|%p9, %r1, 0, 31, -1;", [](auto lane) { return lane; });
}

TEST(PtxWarp, ShufflesTakeTheLastFiveBitsOfALane) {
  expect_shuffled("shfl.sync.bfly.b32 %r0|%p9, %r1, 33, 31, -1;",
                  [](auto lane) { return lane % 2 == 0 ? lane + 1 : lane - 1; });
  expect_shuffled("shfl.sync.idx.b32 %r0|%p9, %r1, 39, 31, -1;", [](auto) { return 7; });
  expect_shuffled("shfl.sync.idx.b32 %r0|%p9, %r1, -1, 31, -1;", [](auto) { return 31; });
}

// The third operand holds the mask of a segment in bits 8 to 12, as width 8 has 0x1800, and the bound in bits 0 to 4.
TEST(PtxWarp, ShufflesStayInTheirSegment) {
  expect_shuffled("shfl.sync.down.b32 %r0|%p9, %r1, 3, 0x181f, -1;", [](auto lane) -> std::optional<std::uint32_t> {
    if (lane % 8 >= 5) return std::nullopt;
    return lane + 3;
  });
  expect_shuffled("shfl.sync.up.b32 %r0|%p9, %r1, 3, 0x1800, -1;", [](auto lane) -> std::optional<std::uint32_t> {
    if (lane % 8 < 3) return std::nullopt;
    return lane - 3;
  });
  expect_shuffled("shfl.sync.idx.b32 %r0|%p9, %r1, 5, 0x101f, -1;", [](auto lane) { return lane / 16 * 16 + 5; });
  expect_shuffled("shfl.sync.idx.b32 %r0|%p9, %r1, 21, 0x101f, -1;", [](auto lane) { return lane / 16 * 16 + 5; });
  expect_shuffled("shfl.sync.bfly.b32 %r0|%p9, %r1, 2, 0x1c1f, -1;",
                  [](auto lane) { return lane / 4 * 4 + (lane + 2) % 4; });
  // Across the segment's end: the earlier segment is in range for bfly, the later one is not.
  expect_shuffled("shfl.sync.bfly.b32 %r0|%p9, %r1, 8, 0x181f, -1;", [](auto lane) -> std::optional<std::uint32_t> {
    if (lane % 16 < 8) return std::nullopt;
    return lane - 8;
  });
}

TEST(PtxWarp, ShufflesStayBelowTheirBound) {
  expect_shuffled("shfl.sync.bfly.b32 %r0|%p9, %r1, 16, 15, -1;", [](auto lane) -> std::optional<std::uint32_t> {
    if (lane < 16) return std::nullopt;
    return lane - 16;
  });
  expect_shuffled("shfl.sync.idx.b32 %r0|%p9, %r1, 20, 15, -1;", [](auto) { return std::nullopt; });
  expect_shuffled("shfl.sync.down.b32 %r0|%p9, %r1, 1, 15, -1;", [](auto lane) -> std::optional<std::uint32_t> {
    if (lane > 14) return std::nullopt;
    return lane + 1;
  });
  expect_shuffled("shfl.sync.up.b32 %r0|%p9, %r1, 1, 4, -1;", [](auto lane) -> std::optional<std::uint32_t> {
    if (lane < 5) return std::nullopt;
    return lane - 1;
  });
}

TEST(PtxWarp, EachLaneAsksForItsOwn) {
  expect_shuffled(
      "shfl.sync.idx.b32 %r0|%p9, %r1, %r2, 31, -1;", [](auto lane) { return (lane * 7) % 32; },
      warp([](std::uint32_t lane) { return Inputs{lane * 7}; }));
  expect_shuffled(
      "mov.u32 %r3, 31; mov.u32 %r4, -1; shfl.sync.bfly.b32 %r0|%p9, %r1, %r2, %r3, %r4;",
      [](auto lane) { return lane ^ (lane % 4); }, warp([](std::uint32_t lane) { return Inputs{lane % 4}; }));
}

TEST(PtxWarp, SomeLanesShuffleAlone) {
  const std::string body =
      "mov.u32 %r5, %tid.x; setp.ge.u32 %p5, %r5, 16; @%p5 bra over;\n"
      "shfl.sync.bfly.b32 %r0, %r1, 8, 31, 0xffff;\nover: mov.u32 %r6, 0;";
  const std::vector<Outcome> outcomes = run(body, warp());
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(outcomes[lane].first, lane < 16 ? 100 + (lane + 8) % 16 : 0x55555555) << "lane " << lane;
  }
}

/// Votes of a warp in which each lane votes as `voter` says; all lanes get the same.
void expect_vote(const std::string& body, const std::function<bool(std::uint32_t)>& voter, std::uint64_t expected) {
  const std::vector<Outcome> outcomes = run(body, warp([&](std::uint32_t lane) { return Inputs{voter(lane)}; }));
  for (std::uint32_t lane = 0; lane < 32; ++lane)
    EXPECT_EQ(outcomes[lane].first, expected) << body << ", lane " << lane;
}

TEST(PtxWarp, VotesAreOfAllLanes) {
  const auto all = [](std::uint32_t) { return true; };
  const auto none = [](std::uint32_t) { return false; };
  const auto third = [](std::uint32_t lane) { return lane % 3 == 0; };
  expect_vote("vote.sync.ballot.b32 %r0, %p2, -1;", third, 0x49249249);
  expect_vote("vote.sync.ballot.b32 %r0, !%p2, -1;", third, 0xb6db6db6);
  expect_vote("vote.sync.all.pred %p0, %p2, -1;", all, 1);
  expect_vote("vote.sync.all.pred %p0, %p2, -1;", third, 0);
  expect_vote("vote.sync.all.pred %p0, !%p2, -1;", none, 1);
  expect_vote("vote.sync.any.pred %p0, %p2, -1;", third, 1);
  expect_vote("vote.sync.any.pred %p0, %p2, -1;", none, 0);
  expect_vote("vote.sync.any.pred %p0, !%p2, -1;", all, 0);
  expect_vote("vote.sync.uni.pred %p0, %p2, -1;", all, 1);
  expect_vote("vote.sync.uni.pred %p0, %p2, -1;", none, 1);
  expect_vote("vote.sync.uni.pred %p0, %p2, -1;", third, 0);
}

TEST(PtxWarp, OnlyLanesOfTheMaskVote) {
  const std::string body =
      "mov.u32 %r5, %tid.x; setp.ge.u32 %p5, %r5, 16; @%p5 bra over;\n"
      "vote.sync.ballot.b32 %r0, %p2, 0xffff;\nover: mov.u32 %r6, 0;";
  const std::vector<Outcome> outcomes = run(body, warp([](std::uint32_t lane) { return Inputs{lane % 2 == 0}; }));
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(outcomes[lane].first, lane < 16 ? 0x5555U : 0x55555555U) << "lane " << lane;
  }
}

TEST(PtxWarp, LanesFindTheirLike) {
  const std::vector<Inputs> lanes = warp([](std::uint32_t lane) {
    return Inputs{lane % 4, std::uint64_t{lane % 2} << 40U};
  });
  const std::vector<Outcome> any = run("match.any.sync.b32 %r0, %r2, -1;", lanes);
  const std::vector<Outcome> wide = run("match.any.sync.b64 %r0, %rd3, -1;", lanes);
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(any[lane].first, 0x11111111U << lane % 4) << "lane " << lane;
    EXPECT_EQ(wide[lane].first, 0x55555555U << lane % 2) << "lane " << lane;
  }
  EXPECT_EQ(run("match.all.sync.b32 %r0|%p9, %r2, -1;", lanes).front(), (Outcome{0, 0}));
  EXPECT_EQ(run("mov.u32 %r5, 7; match.all.sync.b32 %r0|%p9, %r5, -1;", lanes).back(), (Outcome{0xffffffff, 1}));
}

TEST(PtxWarp, LanesAreReducedToOne) {
  const std::vector<Inputs> lanes = warp();
  const auto reduced = [&](const std::string& operation) {
    return run("sub.s32 %r5, %r1, 110; redux.sync." + operation + " %r0, %r5, -1;", lanes).back().first;
  };
  // Of -10, -9, ..., 21.
  EXPECT_EQ(reduced("add.s32"), 176U);
  EXPECT_EQ(reduced("add.u32"), 176U);
  EXPECT_EQ(reduced("min.s32"), 0xfffffff6);
  EXPECT_EQ(reduced("max.s32"), 21U);
  EXPECT_EQ(reduced("min.u32"), 0U);
  EXPECT_EQ(reduced("max.u32"), 0xffffffff);
  EXPECT_EQ(reduced("and.b32"), 0U);
  EXPECT_EQ(reduced("or.b32"), 0xffffffff);
  EXPECT_EQ(reduced("xor.b32"), 0U);
}

TEST(PtxWarp, AShorterWarpHasItsLanesOnly) {
  std::vector<Inputs> lanes = warp([](std::uint32_t) { return Inputs{true}; });
  lanes.resize(20);
  for (const Outcome& outcome : run("vote.sync.ballot.b32 %r0, %p2, 0xfffff;", lanes))
    EXPECT_EQ(outcome.first, 0xfffffU);
}

TEST(PtxWarp, SpecialRegistersSayWhoALaneIs) {
  const std::vector<Inputs> lanes(70);
  const std::vector<Outcome> threads = run("mov.u32 %r0, %tid.x; mov.u32 %r9, %laneid;", lanes);
  for (std::size_t thread = 0; thread < 70; ++thread) EXPECT_EQ(threads[thread], (Outcome{thread, thread % 32}));
  EXPECT_EQ(run("mov.u32 %r0, %ntid.x; mov.u32 %r9, %nctaid.x;", lanes).back(), (Outcome{70, 1}));
  EXPECT_EQ(run("mov.u32 %r0, %ctaid.x; mov.u32 %r9, %tid.y;", lanes).back(), (Outcome{0, 0}));
  EXPECT_EQ(run("mov.u32 %r0, %ntid.y; mov.u32 %r9, %ntid.z;", lanes).back(), (Outcome{1, 1}));
}

}  // namespace
}  // namespace trigram::ptx
