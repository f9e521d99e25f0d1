// Members that join, leave and are lost while ranks train: the same weights in the simulator and on threads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/members/member_schedule.hpp"
#include "core/members/member_training.hpp"
#include "core/values/error.hpp"
#include "tests/algorithms/script.hpp"
#include "tests/algorithms/worlds.hpp"

namespace trigram::testing::membership_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::int64_t steps = 16;
const std::string schedule = "at 4 lose 1  # of four\nat 7 join 2\n\nat 10 leave 0, 4\nat 10 join 1\n";

TEST(Schedules, SayWhoIsThereFromWhichStepOn) {
  const auto epochs = member_epochs(4, steps, parse_membership(schedule));
  ASSERT_EQ(epochs.size(), 4U);
  EXPECT_EQ(epochs[0].begin, 0);
  EXPECT_THAT(epochs[0].members, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(epochs[1].members, ElementsAre(0, 2, 3));
  EXPECT_THAT(epochs[1].were, ElementsAre(0, 2, 3));
  EXPECT_THAT(epochs[1].lost, ElementsAre(1));
  EXPECT_THAT(epochs[2].members, ElementsAre(0, 2, 3, 4, 5));
  EXPECT_THAT(epochs[2].were, ElementsAre(0, 1, 2, -1, -1));
  EXPECT_EQ(epochs[3].begin, 10);
  EXPECT_THAT(epochs[3].members, ElementsAre(2, 3, 5, 6));
  EXPECT_THAT(epochs[3].were, ElementsAre(1, 2, 4, -1));
  EXPECT_THAT(epochs[3].left, ElementsAre(0, 4));
}

std::string refusal(const std::string& text) {
  try {
    member_epochs(4, steps, parse_membership(text));
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(Schedules, ThatCannotBeAreRefused) {
  EXPECT_THAT(refusal("at 3 join 1\nfrom 3 on"),
              HasSubstr("line 2: is no change of members; give 'at STEP join COUNT'"));
  EXPECT_THAT(refusal("at 3 lose me"), HasSubstr("line 1: 'me' is no whole number"));
  EXPECT_THAT(refusal("at 5 join 1\nat 3 join 1"), HasSubstr("line 2: step 3 comes before that of the line above"));
  EXPECT_THAT(refusal("at 3 lose 1\nat 4 lose 1"), HasSubstr("at step 4 member 1 goes, who is not there"));
  EXPECT_THAT(refusal("at 3 lose 0, 1, 2, 3"), HasSubstr("at step 3 nobody is left to train"));
  EXPECT_THAT(refusal("at 16 join 1"), HasSubstr("members change at step 16, and training has 16 steps"));
  EXPECT_THAT(refusal("at 90s join 1"), HasSubstr("at 90s members would change by the simulated clock"));
  EXPECT_THAT(refusal("at 90s join 1\nat 95 join 1"),
              HasSubstr("line 2: names a step, and the line above a time; give steps alone, or times alone"));
  EXPECT_THAT(refusal("at 2min join 1\nat 90s join 1"), HasSubstr("line 2: 90s comes before that of the line above"));
}

TrainingOptions of(const std::string& algorithm) {
  TrainingOptions options = scripted(algorithm, steps);
  options.workload = "quadratic:dimension=29,layers=4,noise=0.5";
  options.learning_rate = 0.01;
  options.optimizer = "momentum";
  return options;
}

MemberTraining train(const std::string& backend, const std::string& algorithm) {
  World world;
  world.ranks = 4;
  world.bucket_lanes = 2;
  const auto place = Backends::make(backend);
  MemberSchedule members(parse_membership(schedule));
  check_members(of(algorithm), world, *place, member_epochs(4, steps, members.events()));
  return train_with_members(*place, world, of(algorithm), members);
}

class EveryMethod : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryMethod, HasTheSameWeightsSimulatedAndOnThreads) {
  if (!Backends::has("sim")) GTEST_SKIP() << "this build has no simulator";
  const MemberTraining real = train(threads(2), GetParam()), simulated = train(simulator(2), GetParam());
  ASSERT_EQ(real.training.ranks.size(), 4U);
  EXPECT_EQ(weights_of(real.training), weights_of(simulated.training));
  for (const MemberTraining* one : {&real, &simulated}) {
    const RankReport& first = one->training.ranks.front();
    ASSERT_EQ(first.steps.size(), static_cast<std::size_t>(steps)) << "rank 0 was somebody else at first";
    for (std::size_t i = 0; i < first.steps.size(); ++i) EXPECT_EQ(first.steps[i].step, static_cast<std::int64_t>(i));
    EXPECT_EQ(first.steps_done, steps);
  }
}

INSTANTIATE_TEST_SUITE_P(Methods, EveryMethod,
                         ::testing::Values("all_reduce", "bytegrad:codec=one_bit,error_feedback=on", "decentralized",
                                           "gradient_tracking", "choco_sgd", "low_precision_decentralized", "d2",
                                           "diloco:every=3", "scaffold:every=3", "sgp", "diana", "delayed_sgd"),
                         [](const auto& method) { return method.param.substr(0, method.param.find(':')); });

/// The mean model's loss at the end, where one of four ranks goes after step 60, whose gradients differ from the
/// others'.
double loss_without_rank_3(const std::string& algorithm, const std::string& goes) {
  World world;
  world.ranks = 4;
  TrainingOptions options = scripted(algorithm, 400);
  options.workload = "quadratic";
  options.learning_rate = 0.05;
  MemberSchedule members(parse_membership("at 60 " + goes + " 3"));
  const MemberTraining training = train_with_members(*Backends::make(threads(1)), world, options, members);
  return evaluations(training.training.ranks).back().loss;
}

class RightBySums : public ::testing::TestWithParam<std::string> {};

// What corrects for ranks' differences is right by its sum, of which a lost rank takes its part along.
TEST_P(RightBySums, GoOnToTheOptimumOfThoseWhoAreLeft) {
  EXPECT_LT(loss_without_rank_3(GetParam(), "leave"), 1e-3);
  EXPECT_LT(loss_without_rank_3(GetParam(), "lose"), 1e-3);
}

INSTANTIATE_TEST_SUITE_P(Methods, RightBySums,
                         ::testing::Values("d2", "gradient_tracking", "scaffold:every=3", "diana:codec=identity"),
                         [](const auto& method) { return method.param.substr(0, method.param.find(':')); });

TEST(Members, TakeTheTimeThatTheirBytesAndADeathTake) {
  if (!Backends::has("sim")) GTEST_SKIP() << "this build has no simulator";
  const MemberTraining training = train(simulator(2), "all_reduce");
  ASSERT_EQ(training.epochs.size(), 4U);
  const auto& [first, after_death, after_join, last] =
      std::tie(training.epochs[0], training.epochs[1], training.epochs[2], training.epochs[3]);
  EXPECT_EQ(first.recovery_s, 0);
  EXPECT_GT(after_death.lost_s, ChangeTimes().detection_s) << "and a step";
  EXPECT_GE(after_death.recovery_s, after_death.lost_s);
  EXPECT_EQ(after_join.lost_s, 0);
  EXPECT_GT(after_join.recovery_s, 0) << "bytes travel";
  EXPECT_LT(after_join.recovery_s, 0.1);
  EXPECT_GT(last.begin_s, after_join.end_s);
}

TEST(Members, WhoseOptimizerIsCutMustLeaveBeforeTheyAreLost) {
  TrainingOptions options = of("zero_pp");
  World world;
  world.ranks = 4;
  const auto place = Backends::make(threads(2));
  try {
    MemberSchedule loss(parse_membership("at 4 lose 1"));
    train_with_members(*place, world, options, loss);
    FAIL() << "went on without a part of the velocity";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("of 'optimizer, velocity 0', whose parts ranks keep; let who holds it leave "
                                        "before it is lost, or resume from a checkpoint"));
  }
  MemberSchedule farewell(parse_membership("at 4 leave 1"));
  EXPECT_EQ(train_with_members(*place, world, options, farewell).training.ranks.size(), 3U);
}

TEST(Members, ThatAMethodCannotHaveAreRefusedBeforeTraining) {
  World world;
  world.ranks = 4;
  const auto place = Backends::make(threads(2));
  try {
    check_members(of("decentralized:topology=hypercube"), world, *place,
                  member_epochs(4, steps, parse_membership("at 4 leave 1")));
    FAIL() << "three are no hypercube";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("from step 4 on, with 3 members: topology 'hypercube' cannot have 3 vertices"));
  }
}

}  // namespace
}  // namespace trigram::testing::membership_test
