// Members that come and go at seconds of the simulated clock, and machines that live for a time that is drawn.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <numeric>

#include "core/members/member_schedule.hpp"
#include "core/members/member_training.hpp"
#include "core/values/error.hpp"
#include "tests/algorithms/script.hpp"
#include "tests/algorithms/worlds.hpp"

namespace trigram::testing::members_by_clock_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::int64_t steps = 12;
constexpr double exchange = 1e-3;  // seconds in which all that is sent is there

/// A step computes for a second, and what is exchanged takes next to nothing.
MemberTraining train(Membership& membership, const std::string& backend = simulator(1)) {
  Script script;
  script.layer_seconds = 0.5;
  script.gradient = [](std::int64_t step, int rank, std::int64_t, float weight) {
    return weight + static_cast<float>(rank) + static_cast<float>(step);
  };
  play(script);
  World world;
  world.ranks = 4;
  TrainingOptions options = scripted("all_reduce", steps);
  options.evaluate_every = 2;
  return train_with_members(*Backends::make(backend), world, options, membership);
}

MemberTraining train(const std::string& text) {
  MemberSchedule schedule(parse_membership(text));
  return train(schedule);
}

std::vector<std::int64_t> begins(const MemberTraining& training) {
  std::vector<std::int64_t> all;
  for (const EpochRecord& record : training.epochs) all.push_back(record.epoch.begin);
  return all;
}

class ByTheClock : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!Backends::has("sim")) GTEST_SKIP() << "this build has no simulator";
  }
};

// Steps end at 1, 2 and 3 s; the fourth is cut off, and is over at 4 s; a second later it is missed.
TEST_F(ByTheClock, ChangesComeAtBordersAndALossCutsItsStepOff) {
  const MemberTraining timed = train("at 3500ms lose 1\nat 7200ms leave 0\nat 8.5s join 1");
  EXPECT_THAT(begins(timed), ElementsAre(0, 3, 6, 7));
  EXPECT_NEAR(timed.epochs[1].begin_s, 5, 0.1);
  EXPECT_NEAR(timed.epochs[1].end_s, 8, 0.1) << "who leaves at 7.2 s ends its step";
  EXPECT_THAT(timed.epochs[3].epoch.members, ElementsAre(2, 3, 4));
  const MemberTraining stepped = train("at 3 lose 1\nat 6 leave 0\nat 7 join 1");
  EXPECT_EQ(weights_of(timed.training), weights_of(stepped.training));
  EXPECT_EQ(timed.training.seconds, stepped.training.seconds);
  ASSERT_EQ(timed.training.ranks[0].steps.size(), static_cast<std::size_t>(steps));
}

TEST_F(ByTheClock, WhoDoesNotReachABorderInTimeIsLost) {
  std::vector<MemberEvent> events = parse_membership("at 7200ms leave 0");
  events[0].grace = 0.9;
  MemberSchedule in_time(events);
  EXPECT_THAT(train(in_time).epochs[1].epoch.left, ElementsAre(0));
  events[0].grace = 0.1;
  MemberSchedule too_late(events);
  const MemberTraining training = train(too_late);
  EXPECT_THAT(training.epochs[1].epoch.lost, ElementsAre(0));
  EXPECT_THAT(begins(training), ElementsAre(0, 7));
}

TEST_F(ByTheClock, WhatComesUntilALossIsNoticedIsOneChangeWithIt) {
  const MemberTraining training = train("at 3.5s lose 1\nat 3.6s lose 2\nat 4.5s join 1\nat 5.5s join 1");
  EXPECT_THAT(begins(training), ElementsAre(0, 3, 4));
  EXPECT_THAT(training.epochs[1].epoch.members, ElementsAre(0, 3, 4)) << "ranks meet again at 5 s";
  EXPECT_THAT(training.epochs[2].epoch.members, ElementsAre(0, 3, 4, 5));
}

TEST_F(ByTheClock, WhatComesAfterTheEndChangesNothing) {
  const MemberTraining training = train("at 500s lose 0");
  EXPECT_THAT(begins(training), ElementsAre(0));
}

TEST_F(ByTheClock, WhoCameAndWentBetweenTwoBordersWasNeverThere) {
  const MemberTraining training = train("at 2.2s join 1\nat 2.4s leave 4");
  EXPECT_THAT(training.epochs[1].epoch.joined, ElementsAre());
  EXPECT_THAT(training.epochs[1].epoch.left, ElementsAre());
}

TEST_F(ByTheClock, WhatIsUsedIsUsedByAllThatEverWereThere) {
  const MemberTraining all = train("at 3.5s lose 1\nat 7.2s join 2");
  const auto& [first, second, third] = std::tie(all.epochs[0], all.epochs[1], all.epochs[2]);
  const Training& training = all.training;
  EXPECT_NEAR(training.rank_seconds(2), 4 * 2, exchange);
  EXPECT_NEAR(training.rank_seconds(second.end_s), 4 * first.end_s + 3 * (second.end_s - first.end_s), exchange);
  EXPECT_NEAR(training.rank_seconds(training.seconds),
              4 * first.end_s + 3 * (second.end_s - first.end_s) + 5 * (training.seconds - second.end_s), exchange);
  double busy = training.gone_busy_s;
  for (const RankReport& report : training.ranks) busy += report.busy_s;
  const auto seconds = static_cast<double>(4 * first.steps + 3 * second.steps + 5 * third.steps);
  EXPECT_NEAR(busy, seconds, exchange);
  const std::vector<EvalRow> rows = evaluations(training.ranks);
  ASSERT_EQ(rows.size(), static_cast<std::size_t>(steps / 2 + 1));
  for (const EvalRow& row : rows) {
    double until = 0;
    for (const EpochRecord& record : all.epochs) {
      const std::int64_t done = std::clamp<std::int64_t>(row.step - record.epoch.begin, 0, record.steps);
      until += static_cast<double>(done) * static_cast<double>(record.epoch.members.size());
    }
    EXPECT_NEAR(row.busy_s, until, exchange) << "after step " << row.step;
  }
}

TEST_F(ByTheClock, EpochsThatCannotTrainAreNamed) {
  try {
    train("at 3.5s lose 0, 1, 2, 3");
    FAIL() << "nobody trains";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("at 3.5s nobody is left to train"));
  }
}

TEST(Members, ComeByTheClockWhereThatIsSimulated) {
  MemberSchedule schedule(parse_membership("at 3s join 1"));
  try {
    train(schedule, threads(2));
    FAIL() << "took time of threads for simulated time";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("where time is simulated, on backend sim; give a schedule by steps"));
  }
}

std::vector<MemberEvent> events_of(const std::string& spec, int ranks, std::size_t most, std::uint64_t seed = 1) {
  const auto membership = Memberships::make(spec);
  membership->begin(ranks, seed);
  std::vector<MemberEvent> events;
  while (events.size() < most) {
    const std::optional<MemberEvent> event = membership->next();
    if (!event) break;
    events.push_back(*event);
  }
  return events;
}

TEST(MeanTimeBetweenFailures, IsTheMeanOfLives) {
  constexpr int machines = 20000;
  const auto events = events_of("mtbf:mean=100s,replacement=0", machines, 2 * machines);
  ASSERT_EQ(events.size(), static_cast<std::size_t>(machines)) << "each fails once";
  double sum = 0, squares = 0, before = 0;
  for (const MemberEvent& event : events) {
    EXPECT_GE(*event.second, before) << "in order";
    before = *event.second;
    sum += *event.second;
    squares += *event.second * *event.second;
  }
  const double mean = sum / machines;
  EXPECT_NEAR(mean, 100, 3);
  EXPECT_NEAR(std::sqrt(squares / machines - mean * mean), 100, 3) << "of an exponential distribution, the same";
}

TEST(MeanTimeBetweenFailures, HasMachinesReplacedWithNumbersOfTheirOwn) {
  std::map<int, double> came;
  for (int member = 0; member < 6; ++member) came[member] = 0;
  std::map<double, int> due;  // replacements
  int next = 6, losses = 0;
  for (const MemberEvent& event : events_of("mtbf:mean=1min,replacement=10s,machine=2", 6, 600)) {
    if (event.kind == MemberEvent::Kind::join) {
      EXPECT_EQ(event.member, 2);
      for (int i = 0; i < 2; ++i) came[next++] = *event.second;
      ASSERT_FALSE(due.empty());
      EXPECT_NEAR(due.begin()->first, *event.second, 1e-9);
      due.erase(due.begin());
    } else {
      ASSERT_TRUE(came.contains(event.member)) << event.member;
      EXPECT_GT(*event.second, came[event.member]);
      came.erase(event.member);
      if (++losses % 2 == 0) due[*event.second + 10] = 1;
    }
  }
  EXPECT_GT(losses, 100);
}

TEST(MeanTimeBetweenFailures, DependsOnItsSeed) {
  const auto first = [](std::uint64_t seed) { return *events_of("mtbf", 4, 1, seed).at(0).second; };
  EXPECT_EQ(first(3), first(3));
  EXPECT_NE(first(3), first(4));
  EXPECT_THROW(Memberships::make("mtbf:mean=0"), UsageError);
  EXPECT_THROW(Memberships::make("mtbf:machine=3")->begin(4, 1), UsageError);
}

}  // namespace
}  // namespace trigram::testing::members_by_clock_test
