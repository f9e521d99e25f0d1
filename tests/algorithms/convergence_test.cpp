// On a quadratic, training is a linear recurrence that is known in closed form; on real data it learns.
#include <gtest/gtest.h>

#include <cmath>

#include "core/step/algorithm.hpp"
#include "tests/algorithms/script.hpp"
#include "tests/algorithms/worlds.hpp"

namespace trigram::testing::convergence_test {
namespace {

constexpr int ranks = 4;
constexpr int layers = 4;
constexpr double condition = 8;  // eigenvalues 1, 2, 4, 8

TrainingOptions quadratic(const std::string& algorithm, std::int64_t steps) {
  TrainingOptions options = scripted(algorithm, steps);
  options.workload = "quadratic:dimension=12,layers=4,condition=8";
  options.learning_rate = 0.0625;
  options.buckets.bytes = 16;
  return options;
}

/// Mean weights over ranks after `steps`; weights start at 0.
std::vector<double> mean_after(const std::string& algorithm, std::int64_t steps) {
  return mean_over_ranks(weights_of(train_on(threads(2), ranks, quadratic(algorithm, steps))));
}

class LinearRecurrence : public ::testing::TestWithParam<const char*> {};

TEST_P(LinearRecurrence, MeanModelFollowsItsClosedForm) {
  // x̄ ← x̄ − γ A (x̄ − c̄): x̄_t = c̄ (1 − (1 − γλ)^t) in the eigenspace of λ, for every method that leaves the mean alone,
  // since A is the same on all ranks.
  const std::vector<double> optimum = mean_after("all_reduce", 400);
  for (const std::int64_t steps : {1, 3, 10}) {
    const std::vector<double> mean = mean_after(GetParam(), steps);
    for (std::size_t i = 0; i < mean.size(); ++i) {
      const double eigenvalue = std::pow(condition, static_cast<double>(i / 3) / (layers - 1));
      const double expected = optimum[i] * (1 - std::pow(1 - 0.0625 * eigenvalue, steps));
      EXPECT_NEAR(mean[i], expected, 3e-6) << "after " << steps << " steps, element " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Methods, LinearRecurrence,
                         ::testing::Values("all_reduce", "local_sgd:every=3", "decentralized",
                                           "decentralized:mix=after",
                                           "decentralized:topology=one_peer_exponential,every=2",
                                           "bytegrad:codec=identity", "low_precision_decentralized:codec=identity",
                                           "gradient_tracking", "gradient_tracking:topology=one_outside", "sgp",
                                           "choco_sgd", "d2", "scaffold:every=3", "gossip_pga", "sgp:mix=before"));

/// Ranks with the losses ½ (x − c)², c = 10·rank: the mean is least at 35. After enough steps, how far the mean model
/// is from there, and how far the worst rank.
struct Distance {
  double of_mean = 0;
  double of_worst = 0;
};
Distance from_optimum(const std::string& algorithm, double learning_rate) {
  constexpr int many = 8;
  Script script;
  script.layers = {3};
  script.gradient = [](std::int64_t, int rank, std::int64_t, float weight) {
    return weight - 10.0F * static_cast<float>(rank);
  };
  play(script);
  TrainingOptions options = scripted(algorithm, 600);
  options.evaluate_every = 0;
  options.learning_rate = learning_rate;
  const auto weights = weights_of(train_on(threads(2), many, options));
  Distance distance;
  distance.of_mean = std::abs(mean_over_ranks(weights)[0] - 35);
  for (const std::vector<float>& rank : weights)
    distance.of_worst = std::max(distance.of_worst, std::abs(static_cast<double>(rank[0]) - 35));
  return distance;
}

TEST(Heterogeneity, IsNothingToGradientTrackingAndLeavesDPsgdApart) {
  const Distance apart = from_optimum("decentralized", 0.0625);
  EXPECT_LT(apart.of_mean, 1e-3);
  EXPECT_GT(apart.of_worst, 1);
  for (const char* topology : {"ring", "exponential", "one_outside"})
    EXPECT_LT(from_optimum(std::string("gradient_tracking:topology=") + topology, 0.0625).of_worst, 1e-3) << topology;
}

TEST(Heterogeneity, LeavesPushSumApartByTheStepAloneOnAGraphThatMovesTheMean) {
  // Where x stands still Σ g(z) = 0, so the mean of z is the optimum; ranks are apart in proportion to γ.
  const Distance one = from_optimum("sgp:topology=chorded_ring", 0.03125);
  const Distance half = from_optimum("sgp:topology=chorded_ring", 0.015625);
  EXPECT_LT(one.of_mean, 1e-2);
  EXPECT_LT(half.of_mean, 1e-2);
  EXPECT_NEAR(one.of_worst / half.of_worst, 2, 0.1);
}

TEST(Convergence, ObjectiveOfAllReduceFallsByTheSquareOfOneMinusTheStep) {
  // f(x) − f* = ½‖x − c̄‖² with A = 1: every step multiplies it by (1 − γ)².
  TrainingOptions options = quadratic("all_reduce", 6);
  options.workload = "quadratic:dimension=12,layers=1,condition=1";
  const auto rows = evaluations(train_on(threads(2), ranks, options));
  ASSERT_GT(rows[0].loss, 0.1);
  for (std::size_t step = 1; step < rows.size(); ++step) {
    EXPECT_NEAR(rows[step].loss / rows[0].loss, std::pow(1 - 0.0625, 2.0 * static_cast<double>(step)), 1e-5);
  }
}

class RealData : public ::testing::TestWithParam<std::string> {};

/// Before and after a short training on digits.
std::vector<EvalRow> digits(const std::string& algorithm, double learning_rate, std::int64_t batch = 128) {
  TrainingOptions options = scripted(algorithm, 40);
  options.workload = "mlp:data=digits,hidden=16";
  options.learning_rate = learning_rate;
  options.global_batch = batch;
  options.evaluate_every = 0;
  options.buckets.bytes = 2048;
  return evaluations(train_on(threads(2), ranks, options));
}

/// Defaults that are for long trainings hold back too much in forty steps; and a pixel that has hardly been seen in so
/// few leaps where all that is known of it is a sign.
std::string for_a_short_training(const std::string& algorithm) {
  if (algorithm == "dgc") return "dgc:fraction=0.1,momentum=0.5";
  if (algorithm == "sparse_loco") return "sparse_loco:every=4,codec=(top_k:fraction=0.2)";
  if (algorithm == "zero_one_adam") return "zero_one_adam:codec=minmax_uint8";
  return algorithm;
}

TEST_P(RealData, EveryAlgorithmLearnsDigits) {
  // Where a step is as long as the learning rate, whatever the gradient, only the small one can do.
  const std::string algorithm = for_a_short_training(GetParam());
  std::vector<EvalRow> rows = digits(algorithm, 0.5);
  ASSERT_EQ(rows.size(), 2U);
  if (!(rows[1].accuracy > 0.75)) rows = digits(algorithm, 0.02);
  // Ten classes: ln 10 nats and one in ten right before training.
  EXPECT_NEAR(rows[0].loss, std::log(10.0), 0.6);
  EXPECT_LT(rows[1].loss, 0.7);
  EXPECT_GT(rows[1].accuracy, 0.75);
}

TEST_P(RealData, EmptyShardsTrainAndAreCounted) {
  constexpr int many = 16;
  TrainingOptions options = scripted(GetParam(), 3);
  options.workload = "mlp:data=digits,hidden=8";
  options.label_skew = 0.005;
  options.global_batch = 32;
  options.record_all = true;
  options.evaluate_every = 0;
  const Training training = train_on(threads(4), many, options);
  std::int64_t samples = 0;
  int empty = 0;
  for (const RankReport& report : training.ranks) {
    samples += report.local_batch;
    if (report.local_batch > 0) continue;
    ++empty;
    for (const StepRow& row : report.steps) EXPECT_TRUE(std::isnan(row.loss));
  }
  EXPECT_EQ(samples, options.global_batch);
  EXPECT_GT(empty, 0);
  EXPECT_TRUE(std::isfinite(evaluations(training).back().loss));
}

TEST(Convergence, OneBitAdamLearnsInOneBitWhatAdamLearns) {
  // In large batches every pixel that is ever used is, so that its second moment is known when it is frozen.
  constexpr std::int64_t batch = 1024;
  const double adam = digits("one_bit_adam", 0.02, batch)[1].loss;  // its warm-up is longer than the run
  const double one_bit = digits("one_bit_adam:warmup=10", 0.02, batch)[1].loss;
  EXPECT_LT(one_bit, 2 * adam);
  EXPECT_NE(one_bit, adam);
}

INSTANTIATE_TEST_SUITE_P(All, RealData, ::testing::ValuesIn(Algorithms::own_names()),
                         [](const auto& one) { return one.param; });

}  // namespace
}  // namespace trigram::testing::convergence_test
