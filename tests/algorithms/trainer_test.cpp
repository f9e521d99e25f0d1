// The training loop: its clock, its evaluations, its failures.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <set>
#include <thread>

#include "core/step/bucketwise.hpp"
#include "core/values/error.hpp"
#include "tests/algorithms/script.hpp"
#include "tests/algorithms/worlds.hpp"

namespace trigram::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Six layers of one element each, in buckets that hold so many bytes.
TEST(Backward, PausesWhereABucketIsCompleteAndNowhereElse) {
  Script script;
  script.layers = {1, 1, 1, 1, 1, 1};
  play(script);
  for (const auto& [bytes, passes] : {std::pair(4, 6), std::pair(8, 3), std::pair(1024, 1)}) {
    TrainingOptions options = scripted("all_reduce", 2);
    options.buckets.bytes = bytes;
    options.keep_spans = true;
    World world;
    world.ranks = 2;
    world.keep_spans = true;
    const Training training = run_training(*Backends::make(threads(2)), world, options);
    const auto backward = [](const LaneSpan& span) { return span.name == "backward"; };
    EXPECT_EQ(std::ranges::count_if(training.ranks[1].spans, backward), 2 * passes) << bytes;
  }
}

TEST(Evaluations, AreScoredAfterTrainingWhereThatTakesRealTime) {
  constexpr int ranks = 3;
  constexpr std::int64_t steps = 4;
  std::atomic<int> at_the_end = 0;
  std::atomic<bool> early = false;
  Script script;
  script.gradient = [&](std::int64_t step, int, std::int64_t element, float) {
    if (step + 1 == steps && element == 0) ++at_the_end;
    return 1.0F;
  };
  script.accuracy = [&](const std::vector<float>&) {
    early = early || at_the_end < ranks;
    return 0.0;
  };
  play(script);
  const auto rows = evaluations(train_on(threads(2), ranks, scripted("local_sgd:every=100", steps)));
  EXPECT_FALSE(early) << "while ranks waited for a score, lanes went on";
  ASSERT_EQ(rows.size(), static_cast<std::size_t>(steps) + 1);
  for (std::size_t i = 1; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i].step, static_cast<std::int64_t>(i));
    EXPECT_GT(rows[i].time_s, rows[i - 1].time_s) << "the time of handing in, not of scoring";
  }
}

TEST(Evaluations, HaveTheirFormulas) {
  // Four ranks that never exchange: w_r = −γ T g_r with g_r = (r, 0, 2 r).
  constexpr int ranks = 4;
  Script script;
  script.layers = {1, 2};
  script.gradient = [](std::int64_t, int rank, std::int64_t element, float) {
    return static_cast<float>(rank * element);
  };
  script.accuracy = [](const std::vector<float>& weights) { return 1 + weights[1] / 8.0; };
  play(script);
  const auto rows = evaluations(train_on(threads(2), ranks, scripted("local_sgd:every=100", 2)));
  ASSERT_EQ(rows.size(), 3U);
  // γ T = 1/4: w_r = −(0, r, 2 r)/4, the mean is at r = 3/2; Σ_r (r − 3/2)² = 5, ‖(0, 1, 2)‖² = 5.
  EXPECT_EQ(rows[2].step, 2);
  EXPECT_DOUBLE_EQ(rows[2].consensus_distance, std::sqrt(5.0 * 5.0 / ranks) / 4);
  EXPECT_DOUBLE_EQ(rows[2].loss, -(1.5 + 3) / 4);
  EXPECT_DOUBLE_EQ(rows[2].accuracy, 1 - 1.5 / 4 / 8);
  EXPECT_DOUBLE_EQ(rows[2].worst_accuracy, 1 - 3.0 / 4 / 8);
  EXPECT_EQ(rows[0].consensus_distance, 0);
}

TEST(Evaluations, ComeAtTheStepsAskedForAndAtBothEnds) {
  play({});
  TrainingOptions options = scripted("all_reduce", 5);
  const auto steps_of = [&](std::int64_t every) {
    options.evaluate_every = every;
    std::vector<std::int64_t> steps;
    for (const EvalRow& row : evaluations(train_on(threads(2), 3, options))) steps.push_back(row.step);
    return steps;
  };
  EXPECT_EQ(steps_of(2), (std::vector<std::int64_t>{0, 2, 4, 5}));
  EXPECT_EQ(steps_of(5), (std::vector<std::int64_t>{0, 5}));
  EXPECT_EQ(steps_of(0), (std::vector<std::int64_t>{0, 5}));
}

TEST(Evaluations, TellTheBytesThatARankHadSentOnAverage) {
  play({});
  TrainingOptions options = scripted("local_sgd:every=2", 4);
  options.evaluate_every = 2;
  const auto rows = evaluations(train_on(threads(2), 3, options));
  ASSERT_EQ(rows.size(), 3U);
  double exchange = 0;  // of steps 1 and 3, mean over ranks
  for (int rank = 0; rank < 3; ++rank) {
    exchange += static_cast<double>(declared_cost(threads(2), 3, options, rank, 1).bytes) / 3;
  }
  EXPECT_GT(exchange, 0);
  EXPECT_EQ(rows[0].bytes_sent, 0);
  EXPECT_DOUBLE_EQ(rows[1].bytes_sent, exchange);
  EXPECT_DOUBLE_EQ(rows[2].bytes_sent, 2 * exchange);
}

TEST(Reports, KeepCostsOfStepsOnlyWhenAsked) {
  play({});
  TrainingOptions options = scripted("all_reduce", 4);
  options.keep_costs = false;
  for (const RankReport& report : train_on(threads(2), 3, options).ranks) {
    EXPECT_TRUE(report.cost_by_step.empty());
    EXPECT_EQ(report.steps_done, 4);
    Cost sent;
    for (std::int64_t step = 0; step < 4; ++step) sent += declared_cost(threads(2), 3, options, report.rank, step);
    EXPECT_EQ(report.sent, sent);
  }
}

TEST(StepRows, AreOfRankZeroOrOfAllAndTheirSecondsSumToTheStep) {
  Script script;
  script.layers = {50, 60};
  play(script);
  TrainingOptions options = scripted("bytegrad", 4);
  options.evaluate_every = 0;
  Training training = train_on(threads(2), 3, options);
  EXPECT_EQ(training.ranks[0].steps.size(), 4U);
  EXPECT_TRUE(training.ranks[1].steps.empty());
  options.record_all = true;
  training = train_on(threads(2), 3, options);
  for (const RankReport& report : training.ranks) {
    ASSERT_EQ(report.steps.size(), 4U);
    for (std::size_t i = 0; i < 4; ++i) {
      const StepRow& row = report.steps[i];
      EXPECT_EQ(row.rank, report.rank);
      EXPECT_EQ(row.step, static_cast<std::int64_t>(i));
      EXPECT_EQ(row.bytes_sent, report.cost_by_step[i].bytes);
      EXPECT_GE(row.exposed_s, 0);
      EXPECT_GT(row.encode_s, 0);
      EXPECT_GT(row.decode_s, 0);
      EXPECT_GT(row.wire_s, 0);
      if (i > 0) {
        EXPECT_NEAR(row.compute_s + row.exposed_s, row.time_s - report.steps[i - 1].time_s, 1e-9);
      }
    }
  }
}

/// Copies a bucket of step 1 into one that is too small, on the lane of its bucket.
class Clumsy final : public GradientMethod {
 public:
  explicit Clumsy(Params&) {}
  Trigram trigram() const override {
    return {Trigram::Synchrony::synchronous, Trigram::Precision::full, Trigram::Centrality::centralized};
  }
  Cost cost(const CostQuery&) const override { return {}; }
  void exchange(Worker& lane, Bucket& bucket) override {
    if (lane.step != 1 || bucket.index != 1) return;
    lane.device.copy(bucket.gradients, lane.device.allocate(Shape::of(1, DType::f32)));
  }
};

TEST(Failures, OfADeviceSayRankStepLaneAndBucket) {
  static const Algorithms::Registration registration("clumsy", {"copies into too little"},
                                                     [](Params& params) { return std::make_unique<Clumsy>(params); });
  Script script;
  script.layers = {4, 4, 4};
  play(script);
  TrainingOptions options = scripted("clumsy", 3);
  options.buckets.bytes = 32;  // layers 2 and 1 together, layer 0 alone
  for (const bool overlap : {true, false}) {
    options.relaxation.overlap = overlap;
    for (const Place& place : {Place{"threads", threads(1)}, Place{"sim", simulator(1)}}) {
      try {
        train_on(place.backend, 1, options);
        FAIL() << place.name;
      } catch (const Error& error) {
        EXPECT_STREQ(error.what(),
                     "rank 0, step 1, lane 2 (buckets 1, 3, ...), work of bucket 1: copy: 4 elements of f32 do not fit "
                     "1 elements of f32; they must be alike")
            << place.name;
      }
    }
  }
}

bool workload_was_there = false;  ///< when the algorithm had gone, and its lanes had ended

/// Starts a body that writes gradients, which nobody else needs by then, and leaves it to its end to wait for it.
class Forgetful final : public Algorithm {
 public:
  explicit Forgetful(Params&) {}
  ~Forgetful() override {
    pending_ = Pending();
    workload_was_there = living_workloads() > 0;
  }
  Trigram trigram() const override {
    return {Trigram::Synchrony::synchronous, Trigram::Precision::full, Trigram::Centrality::centralized};
  }
  Cost cost(const CostQuery&) const override { return {}; }
  void after_update(Worker& worker, Bucket& bucket) override {
    pending_ = worker.start(worker.background_lane(), [&bucket](Worker& lane) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      lane.device.fill(bucket.gradients, 1);
    });
  }

 private:
  Pending pending_;
};

TEST(Training, KeepsItsBuffersUntilTheAlgorithmsLanesHaveEnded) {
  static const Algorithms::Registration algorithm("forgetful", {"waits at its end"},
                                                  [](Params& params) { return std::make_unique<Forgetful>(params); });
  Script script;
  script.layers = {100000};
  play(script);
  TrainingOptions options = scripted("forgetful", 1);
  train_on(threads(1), 1, options);
  EXPECT_TRUE(workload_was_there);
}

/// Those that were not made for one test.
std::vector<std::string> all_algorithms() {
  std::vector<std::string> known;
  for (const std::string& name : Algorithms::own_names()) {
    if (std::set<std::string>{"witness", "clumsy", "forgetful"}.contains(name)) continue;
    known.push_back(name);
  }
  return known;
}

TEST(Failures, OfAHostOrALinkAtAnyTimeEndARunWithAMessage) {
  Script script;
  script.layers = {40, 3000, 7};
  script.layer_seconds = 20e-6;
  script.gradient = [](std::int64_t, int rank, std::int64_t, float) { return static_cast<float>(rank); };
  play(script);
  for (const std::string& algorithm : all_algorithms()) {
    TrainingOptions options = scripted(algorithm, 2);
    options.relaxation.overlap = Algorithms::make(algorithm)->refuses(Option::overlap).empty();
    for (const char* fidelity : {"exact", "fluid"}) {
      for (const char* fault : {"1ns/gpu/0", "30us/gpu/1", "90us/nic/1", "150us/node/0", "300us/gpu/3"}) {
        const std::string place = simulator(2, fidelity) + ",faults=(" + fault + ")";
        try {
          train_on(place, 4, options);
        } catch (const Error& error) {
          EXPECT_THAT(error.what(), Not(HasSubstr("signal"))) << algorithm << " on " << place;
        }
      }
    }
  }
}

TEST(Failures, OfARankAmidChunksOfAHierarchyEndTheRunWithIt) {
  Script script;
  script.layers = {40, 60000, 7};
  script.layer_seconds = 20e-6;
  play(script);
  TrainingOptions options = scripted("all_reduce", 2);
  options.relaxation.hierarchy = Hierarchy::leader;
  options.relaxation.gradients = DType::f16;  // they are exchanged in memory of the lane that fails
  World world{.ranks = 4};
  world.hierarchy_chunks = 4;
  int ended = 0;
  for (const char* fidelity : {"exact", "fluid"}) {
    for (int microseconds = 40; microseconds < 400; microseconds += 30) {
      const auto backend = Backends::make(simulator(2, fidelity) + ",nic_bandwidth=1Gbps,faults=(" +
                                          std::to_string(microseconds) + "us/gpu/1)");
      try {
        run_training(*backend, world, options);
      } catch (const Error& error) {
        ++ended;
        EXPECT_THAT(error.what(), HasSubstr("rank 1")) << fidelity << ", " << microseconds << " us";
      }
    }
  }
  EXPECT_GE(ended, 20);
}

TEST(Failures, ARankThatThrowsEndsTheRunWithItsOwnTypeAndMessage) {
  for (const Place& place : all_places(2)) {
    Script script;
    script.failing_rank = 2;
    script.failing_step = 1;
    play(script);
    try {
      train_on(place.backend, 4, scripted("all_reduce", 3));
      FAIL() << place.name << " went on without rank 2";
    } catch (const UsageError& error) {
      EXPECT_THAT(error.what(), ::testing::HasSubstr("rank 2 was told to fail in step 1")) << place.name;
    }
    play({});
    EXPECT_NO_THROW(train_on(place.backend, 4, scripted("all_reduce", 3))) << place.name << " cannot run again";
  }
}

}  // namespace
}  // namespace trigram::testing
