// What overlap is worth on the simulated clock, and where a step's seconds go.
#include <gtest/gtest.h>

#include <numeric>

#include "core/primitives/centralized.hpp"
#include "core/step/bucketwise.hpp"
#include "tests/algorithms/script.hpp"
#include "tests/algorithms/worlds.hpp"

namespace trigram::testing::simulated_time_test {
namespace {

constexpr int layers = 8;
constexpr int steps = 10;  // in which every algorithm exchanges at least once
constexpr std::int64_t layer_elements = 4000;
constexpr double layer_seconds = 1e-4;

TrainingOptions timed(const std::string& algorithm, bool overlap) {
  Script script;
  script.layers.assign(layers, layer_elements);
  script.dimensions.assign(layers, {50, layer_elements / 50});
  script.layer_seconds = layer_seconds;
  play(script);
  TrainingOptions options = scripted(algorithm, steps);
  options.evaluate_every = 0;
  options.keep_weights = false;
  options.record_all = true;
  options.buckets.bytes = 4 * layer_elements;
  options.relaxation.overlap = overlap;
  return options;
}

class SimulatedTime : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (!Backends::has("sim")) GTEST_SKIP() << "this build has no simulator";
  }
  static double step_seconds(const Training& training) { return training.ranks[0].training_seconds / steps; }
};

TEST_P(SimulatedTime, OverlapHidesCommunicationBehindComputing) {
  const double serial = step_seconds(train_on(simulator(2), 4, timed(GetParam(), false)));
  const double overlapped = step_seconds(train_on(simulator(2), 4, timed(GetParam(), true)));
  EXPECT_LT(overlapped, serial);
  // Forward and backward each pass every layer once.
  EXPECT_GE(overlapped, 2 * layers * layer_seconds);
}

// Weights travel when their bucket is stepped. With 'off' that is after the last gradient, as in loops of PyTorch; a
// method that sends gradients alone sends them in backward still.
TEST(OptimizerInBackward, IsWhatLetsWeightsTravelBesideIt) {
  if (!Backends::has("sim")) GTEST_SKIP() << "this build has no simulator";
  const auto seconds = [](const std::string& algorithm, bool overlap, bool in_backward) {
    TrainingOptions options = timed(algorithm, overlap);
    options.relaxation.optimizer_in_backward = in_backward;
    return train_on(simulator(2), 4, options).ranks[0].training_seconds;
  };
  for (const std::string weights : {"low_precision_decentralized", "decentralized:mix=after"}) {
    EXPECT_LT(seconds(weights, true, true), seconds(weights, true, false)) << weights;
    EXPECT_EQ(seconds(weights, false, true), seconds(weights, false, false)) << weights;
  }
  EXPECT_EQ(seconds("all_reduce", true, false), seconds("all_reduce", true, true));
  EXPECT_LT(seconds("all_reduce", true, false), seconds("all_reduce", false, false));
}

TEST_P(SimulatedTime, ComputeAndExposedSecondsSumToTheStep) {
  for (const bool overlap : {false, true}) {
    const Training training = train_on(simulator(2), 4, timed(GetParam(), overlap));
    for (const RankReport& report : training.ranks) {
      if (report.steps.empty()) continue;  // it only serves
      double before = report.steps.back().time_s - report.training_seconds;
      for (const StepRow& row : report.steps) {
        EXPECT_NEAR(row.compute_s + row.exposed_s, row.time_s - before, 1e-12);
        EXPECT_GE(row.compute_s, 2 * layers * layer_seconds * (1 - 1e-9));
        EXPECT_GE(row.exposed_s, -1e-12);
        before = row.time_s;
      }
    }
  }
}

TEST_P(SimulatedTime, EvaluationsCostNone) {
  TrainingOptions options = timed(GetParam(), true);
  const Training without = train_on(simulator(2), 4, options);
  options.evaluate_every = 1;
  const Training with = train_on(simulator(2), 4, options);
  EXPECT_EQ(with.ranks[0].training_seconds, without.ranks[0].training_seconds);
}

// Nothing hides what the host does in a step.
TEST(StepOverhead, IsPaidInEveryStep) {
  if (!Backends::has("sim")) GTEST_SKIP() << "this build has no simulator";
  const TrainingOptions options = timed("all_reduce", false);
  const double without = train_on(simulator(2), 4, options).ranks[0].training_seconds;
  const double with = train_on(simulator(2) + ",step_overhead=3ms", 4, options).ranks[0].training_seconds;
  EXPECT_NEAR(with - without, steps * 3e-3, 1e-9);
}

/// A whole step takes 1 s of the profile, its update included.
Training on_a_measured_step(const std::string& algorithm, int ranks, Hierarchy hierarchy = Hierarchy::none) {
  TrainingOptions options = scripted(algorithm, steps);
  options.workload = "on_profile:model=mlp,profile=(vgg16:compute=1s)";
  options.evaluate_every = 0;
  options.relaxation.hierarchy = hierarchy;
  return train_on("sim:nodes=1,gpus_per_node=" + std::to_string(ranks), ranks, options);
}

/// All-reduces gradients, and updates weights by itself as SGD does.
class OwnUpdate final : public GradientMethod {
 public:
  Trigram trigram() const override {
    return {Trigram::Synchrony::synchronous, Trigram::Precision::full, Trigram::Centrality::centralized};
  }
  bool uses_optimizer() const override { return false; }
  Cost cost(const CostQuery& query) const override {
    return sum_over_buckets(query, [&](const Shape& bucket) { return centralized_full_precision_cost(query, bucket); });
  }
  void update(Worker& worker, Bucket& bucket) override {
    worker.device.axpby(-static_cast<float>(worker.learning_rate), bucket.gradients, 1, bucket.weights);
  }

 private:
  void exchange(Worker& lane, Bucket& bucket) override { centralized_full_precision(lane, bucket.gradients); }
};

TEST(MeasuredSteps, IncludeTheUpdateThatAnAlgorithmMakesItself) {
  if (!Backends::has("sim")) GTEST_SKIP() << "this build has no simulator";
  static const Algorithms::Registration registration("own_update", {"updates by itself"},
                                                     [](Params&) { return std::make_unique<OwnUpdate>(); });
  const Training own = on_a_measured_step("own_update", 2), plain = on_a_measured_step("all_reduce", 2);
  EXPECT_EQ(own.ranks[0].training_seconds, plain.ranks[0].training_seconds);
  EXPECT_EQ(weights_of(own), weights_of(plain));
}

TEST(AGroupOfOne, PaysForNoCodecAndLosesNothing) {
  if (!Backends::has("sim")) GTEST_SKIP() << "this build has no simulator";
  const Training alone = on_a_measured_step("all_reduce", 1);
  EXPECT_NEAR(alone.ranks[0].training_seconds, steps, 1e-9);
  for (const std::string algorithm :
       {"bytegrad", "bytegrad:error_feedback=on", "qsgd", "low_precision_decentralized"}) {
    const Training coded = on_a_measured_step(algorithm, 1);
    EXPECT_EQ(coded.ranks[0].training_seconds, alone.ranks[0].training_seconds) << algorithm;
    EXPECT_EQ(weights_of(coded), weights_of(alone)) << algorithm;
    EXPECT_EQ(coded.ranks[0].steps.back().encode_s + coded.ranks[0].steps.back().decode_s, 0) << algorithm;
  }
  // One node is one server: with a leader nothing is encoded either.
  const Training node = on_a_measured_step("all_reduce", 3, Hierarchy::leader);
  const Training coded = on_a_measured_step("bytegrad", 3, Hierarchy::leader);
  EXPECT_EQ(coded.ranks[0].training_seconds, node.ranks[0].training_seconds);
  EXPECT_EQ(weights_of(coded), weights_of(node));
}

// Rank 0 takes 2 s a step and rank 1, four times slower, 8 s; every step takes 1/8 off the only weight of each.
TEST(EvaluationsByTime, HoldWhatEachRankHadByThen) {
  if (!Backends::has("sim")) GTEST_SKIP() << "this build has no simulator";
  Script script;
  script.layers = {1};
  script.layer_seconds = 1;
  script.gradient = [](std::int64_t, int, std::int64_t, float) { return 1.0F; };
  play(script);
  TrainingOptions options = scripted("local_sgd:every=100", 3);
  options.evaluate_every = 0;
  options.evaluate_seconds = 5;
  const auto rows = evaluations(train_on("sim:nodes=1,gpus_per_node=2,slow=1:4", 2, options));
  const std::vector<std::int64_t> furthest{0, 2, 3, 3, 3, 3};
  const std::vector<double> mean_steps{0, (2 + 0) / 2.0, (3 + 1) / 2.0, (3 + 1) / 2.0, (3 + 2) / 2.0, 3};
  ASSERT_EQ(rows.size(), furthest.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i].step, furthest[i]) << i;
    EXPECT_DOUBLE_EQ(rows[i].steps_mean, mean_steps[i]) << i;
    EXPECT_DOUBLE_EQ(rows[i].loss, -mean_steps[i] / 8) << i;
    if (i + 1 < rows.size()) {
      EXPECT_DOUBLE_EQ(rows[i].time_s, rows[0].time_s + 5.0 * static_cast<double>(i));
    }
  }
  EXPECT_NEAR(rows.back().time_s - rows[0].time_s, 24, 0.1);
}

INSTANTIATE_TEST_SUITE_P(All, SimulatedTime, ::testing::ValuesIn(Algorithms::own_names()),
                         [](const auto& one) { return one.param; });

}  // namespace
}  // namespace trigram::testing::simulated_time_test
