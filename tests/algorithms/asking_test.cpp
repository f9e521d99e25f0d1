// Methods whose ranks ask each other. What one slow rank costs the others, by simulated time: all of it where everybody
// meets, nothing where ranks ask; and how they end when one fails.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/values/error.hpp"
#include "tests/algorithms/script.hpp"
#include "tests/algorithms/worlds.hpp"

namespace trigram::testing::asking_test {
namespace {

constexpr int ranks = 6;
constexpr int slow = 1;
constexpr std::int64_t steps = 12;
constexpr double layer_seconds = 1e-3;

class Stragglers : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!Backends::has("sim")) GTEST_SKIP() << "this build has no simulator";
    Script script;
    script.layers = {40, 3000};
    script.layer_seconds = layer_seconds;
    play(script);
  }

  static Training train(const std::string& algorithm, const std::string& cluster) {
    TrainingOptions options = scripted(algorithm, steps);
    options.evaluate_every = 0;
    options.record_all = true;
    return train_on("sim:nodes=6,gpus_per_node=1" + cluster, ranks, options);
  }

  /// How much longer training takes, of each rank, when one is four times slower.
  static std::vector<double> slowdowns(const std::string& algorithm) {
    const Training even = train(algorithm, ""), uneven = train(algorithm, ",slow=1:4");
    std::vector<double> all;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      if (even.ranks[rank].steps.empty()) continue;  // a server
      all.push_back(uneven.ranks[rank].training_seconds / even.ranks[rank].training_seconds);
    }
    return all;
  }

  /// The slow rank takes four times as long, all others as long as before.
  static void expect_that_only_one_is_slow(const std::string& algorithm) {
    const std::vector<double> found = slowdowns(algorithm);
    for (std::size_t rank = 0; rank < found.size(); ++rank)
      EXPECT_NEAR(found[rank], rank == slow ? 4 : 1, rank == slow ? 0.2 : 0.02) << algorithm << ", rank " << rank;
  }
};

TEST_F(Stragglers, SlowEverybodyWhereEverybodyMeets) {
  for (const double found : slowdowns("all_reduce")) EXPECT_NEAR(found, 4, 0.2);
}

TEST_F(Stragglers, LeaveThePaceOfOthersAloneInPairs) {
  expect_that_only_one_is_slow("ad_psgd");
  expect_that_only_one_is_slow("moniqua");
}

TEST_F(Stragglers, LeaveThePaceOfOthersAloneWhileAServerLetsThemRunAhead) {
  expect_that_only_one_is_slow("parameter_server:staleness=12");
  expect_that_only_one_is_slow("parameter_server:staleness=12,servers=2");
}

TEST_F(Stragglers, AreWaitedForByThoseWhoAreTooFarAhead) {
  constexpr std::int64_t staleness = 2;
  const Training training = train("parameter_server:staleness=2", ",slow=1:4");
  const std::vector<StepRow>&fast = training.ranks[0].steps, &late = training.ranks[slow].steps;
  std::int64_t furthest = 0;
  for (const StepRow& row : fast) {
    const auto ended =
        std::count_if(late.begin(), late.end(), [&](const StepRow& other) { return other.time_s <= row.time_s; });
    // The update of the step that the slow one is in may have been sent.
    EXPECT_GE(ended + 1, row.step + 1 - staleness);
    furthest = std::max(furthest, row.step + 1 - ended);
  }
  EXPECT_GE(furthest, staleness);
  EXPECT_GT(training.ranks[0].training_seconds,
            2 * train("parameter_server:staleness=2", "").ranks[0].training_seconds);
}

// n updates of M bytes into one server's NIC, then n replies of M bytes out of it: 2a + 2 n M b, computing apart.
TEST(Servers, TakeTheTimeOfAllMessagesThroughOneNic) {
  if (!Backends::has("sim")) GTEST_SKIP() << "this build has no simulator";
  constexpr std::int64_t elements = 100'000;
  constexpr double latency = 10e-6, bytes_per_second = 12.5e9, messages = 5 * 4.0 * elements;
  Script script;
  script.layers = {elements};
  play(script);
  TrainingOptions options = scripted("parameter_server:staleness=0", 3);
  options.evaluate_every = 0;
  const Training training = train_on(
      "sim:nodes=6,gpus_per_node=1,nic_bandwidth=100Gbps,nic_latency=10us,kernel_launch=0s,gpu_memory_bandwidth=1000TB/"
      "s",
      ranks, options);
  const double expected = 2 * latency + 2 * messages / bytes_per_second;
  EXPECT_NEAR(training.ranks[0].training_seconds / 3 / expected, 1, 1e-3);
}

// The servers' own time is in a step: adding an update and the way there and back.
TEST_F(Stragglers, AServerThatIsSlowSlowsEverybody) {
  const Training even = train("parameter_server", ""), uneven = train("parameter_server", ",slow=5:1000");
  EXPECT_GT(uneven.ranks[0].training_seconds, 2 * even.ranks[0].training_seconds);
  EXPECT_TRUE(even.ranks[5].steps.empty());
  EXPECT_EQ(even.ranks[5].local_batch, 0);
  EXPECT_TRUE(even.ranks[5].weights.empty());
}

TEST_F(Stragglers, AreTheSameInTwoRuns) {
  for (const char* algorithm : {"ad_psgd", "moniqua", "parameter_server:servers=2,staleness=1"}) {
    const Training one = train(algorithm, ",slow=1:4"), other = train(algorithm, ",slow=1:4");
    EXPECT_EQ(weights_of(one), weights_of(other)) << algorithm;
    for (std::size_t rank = 0; rank < ranks; ++rank)
      EXPECT_EQ(one.ranks[rank].training_seconds, other.ranks[rank].training_seconds) << algorithm;
  }
}

TEST(Failures, OfARankEndTheRunWhereOthersAskIt) {
  const std::pair<const char*, int> failing[] = {{"ad_psgd", 1}, {"ad_psgd", 2}, {"parameter_server:staleness=0", 1}};
  for (const Place& place : all_places(2)) {
    for (const auto& [algorithm, rank] : failing) {
      Script script;
      script.failing_rank = rank;
      script.failing_step = 1;
      play(script);
      try {
        train_on(place.backend, 4, scripted(algorithm, 3));
        FAIL() << place.name << " went on without rank " << rank << " of " << algorithm;
      } catch (const UsageError& error) {
        EXPECT_THAT(error.what(), ::testing::HasSubstr("rank " + std::to_string(rank) + " was told to fail in step 1"))
            << place.name << ", " << algorithm;
      }
    }
  }
}

}  // namespace
}  // namespace trigram::testing::asking_test
