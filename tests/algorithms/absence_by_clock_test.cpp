// Members that are lost at seconds of the simulated clock, where the method bears absence: the others undo nothing, and
// leave out what they would have exchanged with them until the next border.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "core/members/member_schedule.hpp"
#include "core/members/member_training.hpp"
#include "core/values/error.hpp"
#include "tests/algorithms/script.hpp"
#include "tests/algorithms/worlds.hpp"

namespace trigram::testing::absence_by_clock_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::int64_t steps = 12;
constexpr double rate = 0.125;
constexpr double instant = 1e-3;  // seconds in which small messages are there

float pull(std::int64_t step, int rank) {
  return 0.25F * static_cast<float>(rank) + 0.0625F * static_cast<float>(step);
}

struct Told {
  std::string schedule;
  std::string algorithm = "decentralized:mix=after";
  std::string backend = simulator(1);
  std::int64_t steps = absence_by_clock_test::steps;
  std::int64_t elements = 7;
  ChangeTimes times = {};
};

/// A step of four ranks computes for a second, on a quadratic of which each pulls to a place of its own.
MemberTraining train(const Told& told) {
  Script script;
  script.layers = {told.elements};
  script.layer_seconds = 0.5;
  script.gradient = [](std::int64_t step, int rank, std::int64_t, float weight) { return weight + pull(step, rank); };
  play(script);
  World world;
  world.ranks = 4;
  TrainingOptions options = scripted(told.algorithm, told.steps);
  options.buckets.bytes = 4 * told.elements;
  MemberSchedule schedule(parse_membership(told.schedule));
  return train_with_members(*Backends::make(told.backend), world, options, schedule, told.times);
}

std::vector<std::int64_t> begins(const MemberTraining& training) {
  std::vector<std::int64_t> all;
  for (const EpochRecord& record : training.epochs) all.push_back(record.epoch.begin);
  return all;
}

std::vector<double> weights(const MemberTraining& training) {
  std::vector<double> all;
  for (const RankReport& report : training.training.ranks) {
    for (const float weight : report.weights.front()) EXPECT_EQ(weight, report.weights.front().front());
    all.push_back(report.weights.front().front());
  }
  return all;
}

/// As somebody with a pencil has them: a weight of each member on a ring.
class OnPaper {
 public:
  explicit OnPaper(bool mixes_after) : mixes_after_(mixes_after) {}

  /// Steps up to that one, of which members that are not `there` are missed by their neighbours.
  void go_on(std::int64_t until, const std::vector<int>& ring, const std::vector<int>& there) {
    for (; step_ < until; ++step_) {
      const auto before = mixes_after_ ? weights_ : mixed(ring, there);
      for (std::size_t rank = 0; rank < ring.size(); ++rank) {
        const double gradient = weights_.at(ring[rank]) + static_cast<double>(pull(step_, static_cast<int>(rank)));
        weights_[ring[rank]] = before.at(ring[rank]) - rate * gradient;
      }
      if (mixes_after_) weights_ = mixed(ring, there);
    }
  }

  std::vector<double> of(const std::vector<int>& members) const {
    std::vector<double> all;
    for (const int member : members) all.push_back(weights_.at(member));
    return all;
  }

 private:
  using Weights = std::map<int, double>;

  /// What one would weigh that is missed, one's own value does.
  Weights mixed(const std::vector<int>& ring, const std::vector<int>& there) const {
    Weights all;
    const std::size_t n = ring.size();
    for (std::size_t rank = 0; rank < n; ++rank) {
      const int own = ring[rank];
      all[own] = weights_.at(own) / 3;
      for (const int other : {ring[(rank + 1) % n], ring[(rank + n - 1) % n]})
        all[own] += weights_.at(std::ranges::count(there, other) > 0 ? other : own) / 3;
    }
    return all;
  }

  bool mixes_after_;
  std::int64_t step_ = 0;
  Weights weights_{{0, 0}, {1, 0}, {2, 0}, {3, 0}};
};

void expect_near(const std::vector<double>& there, const std::vector<double>& on_paper) {
  ASSERT_EQ(there.size(), on_paper.size());
  for (std::size_t rank = 0; rank < there.size(); ++rank) EXPECT_NEAR(there[rank], on_paper[rank], 1e-6) << rank;
}

double goodput(const MemberTraining& training) {
  double useful = 0;
  for (const EpochRecord& record : training.epochs) useful += record.end_s - record.begin_s;
  return useful / (training.epochs.back().end_s - training.epochs.front().begin_s);
}

class AbsenceByTheClock : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!Backends::has("sim")) GTEST_SKIP() << "this build has no simulator";
  }
};

// The fourth step ends at 4 s with an exchange; who waits there for the lost one misses it a second later.
TEST_F(AbsenceByTheClock, NeighboursLeaveTheLostOneOutAndNothingIsUndone) {
  for (const int lost : {1, 0}) {
    const MemberTraining training = train({.schedule = "at 3.5s lose " + std::to_string(lost)});
    EXPECT_THAT(begins(training), ElementsAre(0, 4));
    EXPECT_THAT(training.epochs[1].epoch.lost, ElementsAre(lost));
    EXPECT_NEAR(training.epochs[0].end_s, 4, instant);
    EXPECT_NEAR(training.epochs[1].begin_s, 5, instant);
    EXPECT_NEAR(training.epochs[1].lost_s, 1, instant);
    EXPECT_NEAR(training.training.seconds, 13, instant) << "twelve steps, and a second";
    EXPECT_NEAR(goodput(training), 12.0 / 13, instant);
    std::vector<int> there{0, 1, 2, 3};
    std::erase(there, lost);
    OnPaper paper(/*mixes_after=*/true);
    paper.go_on(3, {0, 1, 2, 3}, {0, 1, 2, 3});
    paper.go_on(4, {0, 1, 2, 3}, there);
    paper.go_on(steps, there, there);
    expect_near(weights(training), paper.of(there));
    const RankReport& first = training.training.ranks.front();
    ASSERT_EQ(first.steps.size(), static_cast<std::size_t>(steps));
    for (std::size_t i = 0; i < first.steps.size(); ++i) EXPECT_EQ(first.steps[i].step, static_cast<std::int64_t>(i));
  }
}

// What neighbours mix before a step was there when the member was lost, who is missed at the border.
TEST_F(AbsenceByTheClock, WhatHasComeCounts) {
  const MemberTraining training = train({.schedule = "at 3.5s lose 1", .algorithm = "decentralized"});
  EXPECT_THAT(begins(training), ElementsAre(0, 4));
  EXPECT_NEAR(training.epochs[1].begin_s, 5, instant);
  OnPaper paper(/*mixes_after=*/false);
  paper.go_on(4, {0, 1, 2, 3}, {0, 1, 2, 3});
  paper.go_on(steps, {0, 2, 3}, {0, 2, 3});
  expect_near(weights(training), paper.of({0, 2, 3}));
}

// Member 2 dies while it waits for member 1; who waits at the border from 5 s on misses it at 6 s.
TEST_F(AbsenceByTheClock, WhoIsLostWhileOthersWaitIsOneChangeWithTheFirst) {
  const MemberTraining training = train({.schedule = "at 3.5s lose 1\nat 4.5s lose 2\nat 4.7s join 1\nat 6.5s join 1"});
  EXPECT_THAT(begins(training), ElementsAre(0, 4, 5));
  EXPECT_THAT(training.epochs[1].epoch.members, ElementsAre(0, 3, 4));
  EXPECT_NEAR(training.epochs[1].begin_s, 6, instant);
  EXPECT_NEAR(training.epochs[1].lost_s, 2, instant);
  EXPECT_NEAR(training.epochs[1].end_s, 7, instant);
}

TEST_F(AbsenceByTheClock, WhoIsLostAtTheBorderIsMissedThere) {
  const MemberTraining training = train({.schedule = "at 3.5s lose 1\nat 4.6s lose 3"});
  EXPECT_THAT(begins(training), ElementsAre(0, 4));
  EXPECT_THAT(training.epochs[1].epoch.members, ElementsAre(0, 2));
  EXPECT_NEAR(training.epochs[1].begin_s, 6, instant);
}

// Member 3 dies at the border that it reached at 1.5 s: member 0 comes there at 2 s, and member 2, which is slow,
// at 2.5 s.
TEST_F(AbsenceByTheClock, WhoIsLostAtTheBorderIsNotCountedForOneWhoIsLate) {
  const MemberTraining training =
      train({.schedule = "at 0.5s lose 1\nat 1.8s lose 3", .backend = simulator(1) + ",slow=2:1.5"});
  EXPECT_THAT(begins(training), ElementsAre(0, 1));
  EXPECT_THAT(training.epochs[1].epoch.members, ElementsAre(0, 2));
  EXPECT_NEAR(training.epochs[1].begin_s, 3.5, instant);
}

// All have come to the border at 4 s, and wait there for member 1 until 5 s.
TEST_F(AbsenceByTheClock, WhoIsLostAfterAllHaveMetStopsNobody) {
  const MemberTraining training = train({.schedule = "at 3.5s lose 1\nat 4.5s lose 0", .algorithm = "decentralized"});
  EXPECT_THAT(begins(training), ElementsAre(0, 4));
  EXPECT_THAT(training.epochs[1].epoch.members, ElementsAre(2, 3));
  EXPECT_NEAR(training.epochs[1].begin_s, 5, instant);
}

// Members meet from 5 s to 7 s; who dies then is missed at 9 s, a second after the first step.
TEST_F(AbsenceByTheClock, WhoIsLostWhileMembersMeetIsMissedInTheirFirstStep) {
  for (const char* lost : {"0", "3", "2"}) {
    const MemberTraining training =
        train({.schedule = std::string("at 3.5s lose 1\nat 4.8s join 1\nat 5.2s lose ") + lost,
               .times = {.detection_s = 1, .meeting_s = 2}});
    EXPECT_THAT(begins(training), ElementsAre(0, 4, 5)) << lost;
    EXPECT_NEAR(training.epochs[1].begin_s, 7, instant) << lost;
    EXPECT_NEAR(training.epochs[2].begin_s, 11, instant) << lost;
  }
}

TEST_F(AbsenceByTheClock, ALossInTheLastStepLeavesTheOthersAtTheirEnd) {
  for (const int lost : {2, 0}) {
    const MemberTraining training = train({.schedule = "at 3.5s lose " + std::to_string(lost), .steps = 4});
    EXPECT_THAT(begins(training), ElementsAre(0));
    EXPECT_NEAR(training.training.seconds, 5, instant);
    ASSERT_EQ(training.training.ranks.size(), 3U);
    std::vector<int> there{0, 1, 2, 3};
    std::erase(there, lost);
    OnPaper paper(/*mixes_after=*/true);
    paper.go_on(3, {0, 1, 2, 3}, {0, 1, 2, 3});
    paper.go_on(4, {0, 1, 2, 3}, there);
    expect_near(weights(training), paper.of(there));
    EXPECT_EQ(training.training.ranks.front().steps.size(), 4U);
    EXPECT_NEAR(training.training.gone_busy_s, 3, instant) << "of the lost one, whose fourth step has no end";
  }
}

// One of them takes one and a half times as long, so that the others have handed in their third weights without it.
TEST_F(AbsenceByTheClock, EvaluationsAreOfThoseWhoAreThere) {
  const std::string slow = simulator(1) + ",slow=1:1.5";
  for (const Told& told : {Told{.schedule = "at 3.5s lose 3"}, Told{.schedule = "at 3.5s lose 0"},
                           Told{.schedule = "at 3.5s lose 1", .algorithm = "async_average", .backend = slow}}) {
    const MemberTraining training = train(told);
    std::vector<std::int64_t> scored;
    for (const EvalRow& row : evaluations(training.training.ranks)) scored.push_back(row.step);
    EXPECT_THAT(scored, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12));
  }
}

/// A ring's round of so many elements takes `seconds`.
std::string network(std::int64_t elements, double seconds) {
  return simulator(1) + ",nic_latency=1us,nic_bandwidth=" + std::to_string(static_cast<double>(elements) / seconds) +
         "B/s";
}

// The average of what all had after the first step begins at 1 s; neighbours of the lost one miss it at 2.5 s.
TEST_F(AbsenceByTheClock, AnAverageUnderWayIsGivenUp) {
  constexpr std::int64_t elements = 4000;
  for (const char* algorithm : {"async_average", "low_precision_async_average:codec=minmax_uint8"}) {
    const MemberTraining training = train({.schedule = "at 1500ms lose 1",
                                           .algorithm = algorithm,
                                           .backend = network(elements, 0.8),
                                           .steps = 2,
                                           .elements = elements});
    EXPECT_THAT(begins(training), ElementsAre(0));
    const std::vector<double> there = weights(training);
    for (std::size_t rank = 0; rank < there.size(); ++rank) {
      double each = 0;
      for (std::int64_t step = 0; step < 2; ++step)
        each -= rate * (each + static_cast<double>(pull(step, rank == 0 ? 0 : static_cast<int>(rank) + 1)));
      EXPECT_NEAR(there[rank], each, 1e-6) << algorithm << ": each has only its own steps, rank " << rank;
    }
    EXPECT_NEAR(training.training.seconds, 2.5, 0.01) << algorithm;
  }
}

TEST_F(AbsenceByTheClock, SoIsOneWhoseMessagesAreFlows) {
  constexpr std::int64_t elements = 4000;
  for (const char* fidelity : {"fluid", "exact"}) {
    const MemberTraining training = train({.schedule = "at 1500ms lose 1\nat 5s join 1",
                                           .algorithm = "async_average",
                                           .backend = simulator(1, fidelity) + ",nic_latency=1us,nic_bandwidth=5kB/s",
                                           .steps = 6,
                                           .elements = elements});
    EXPECT_EQ(begins(training).at(1), 2);
    EXPECT_NEAR(training.epochs[1].begin_s, 2.5, 0.01) << fidelity;
  }
}

// Who asks the lost one waits for it once; the others go on at their own pace.
TEST_F(AbsenceByTheClock, WhoAsksTheLostOneKeepsItsWeights) {
  for (const char* algorithm : {"ad_psgd", "moniqua", "ad_psgd:topology=ring"}) {
    for (const char* lost : {"1", "0"}) {
      const MemberTraining training = train({.schedule = std::string("at 3.5s lose ") + lost, .algorithm = algorithm});
      EXPECT_THAT(begins(training), ElementsAre(0, 4)) << algorithm;
      EXPECT_NEAR(training.epochs[1].begin_s, 5, instant) << algorithm;
      EXPECT_NEAR(training.training.seconds, 13, 2 * instant) << algorithm;
      EXPECT_EQ(training.training.ranks.size(), 3U);
    }
  }
}

// Questions are under way from 3 s on, of which one at least goes to member 1 or to member 3.
TEST_F(AbsenceByTheClock, WhoHasAskedTheLostOneMissesItOnce) {
  constexpr std::int64_t elements = 4000;
  double first = 100;
  for (const char* lost : {"1", "3"}) {
    const MemberTraining training = train({.schedule = std::string("at 3050ms lose ") + lost,
                                           .algorithm = "ad_psgd",
                                           .backend = network(4 * elements, 0.1),
                                           .elements = elements});
    EXPECT_THAT(begins(training), ElementsAre(0, 4));
    EXPECT_LT(training.epochs[1].begin_s, 5.01);
    first = std::min(first, training.epochs[1].begin_s);
  }
  EXPECT_NEAR(first, 4.05, 0.001);
}

TEST_F(AbsenceByTheClock, EachMethodThatBearsItGoesOn) {
  for (const char* algorithm : {"low_precision_decentralized", "choco_sgd", "no_loco:every=2", "matcha",
                                "decentralized:topology=one_peer_exponential"}) {
    const MemberTraining training = train({.schedule = "at 3.5s lose 1\nat 6.2s lose 3", .algorithm = algorithm});
    EXPECT_THAT(begins(training), ElementsAre(0, 4, 6)) << algorithm;
    const MemberTraining again = train({.schedule = "at 3.5s lose 1\nat 6.2s lose 3", .algorithm = algorithm});
    EXPECT_EQ(weights_of(training.training), weights_of(again.training)) << algorithm;
    EXPECT_EQ(training.training.seconds, again.training.seconds) << algorithm;
  }
}

// The step that the loss cuts off, until 4 s, and the second until it is noticed; then the step once more.
TEST_F(AbsenceByTheClock, OthersGoBack) {
  for (const char* algorithm : {"all_reduce", "gossip_pga", "d2", "sgp", "async_average:warmup=12"}) {
    const MemberTraining training = train({.schedule = "at 3.5s lose 1", .algorithm = algorithm});
    EXPECT_THAT(begins(training), ElementsAre(0, 3)) << algorithm;
    EXPECT_NEAR(training.epochs[1].begin_s, 5, 0.1) << algorithm;
  }
}

TEST_F(AbsenceByTheClock, WhoDoesNotReachABorderInTimeIsLostAtItsEnd) {
  std::vector<MemberEvent> events = parse_membership("at 3.2s leave 1");
  events[0].grace = 0.5;
  Script script;
  script.layer_seconds = 0.5;
  play(script);
  World world;
  world.ranks = 4;
  MemberSchedule schedule(events);
  const MemberTraining training =
      train_with_members(*Backends::make(simulator(1)), world, scripted("decentralized", steps), schedule);
  EXPECT_THAT(training.epochs[1].epoch.lost, ElementsAre(1));
  EXPECT_THAT(begins(training), ElementsAre(0, 4));
}

TEST_F(AbsenceByTheClock, WhereNobodyIsLeftTheRunEnds) {
  try {
    train({.schedule = "at 3.5s lose 0, 1, 2, 3"});
    FAIL() << "nobody trains";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("at 3.5s nobody is left to train"));
  }
}

}  // namespace
}  // namespace trigram::testing::absence_by_clock_test
