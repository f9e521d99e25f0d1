// Experts and replicas in one training, against plain arithmetic, wherever algorithms run.
#include <gtest/gtest.h>

#include <cmath>
#include <tuple>

#include "core/values/error.hpp"
#include "tests/algorithms/worlds.hpp"

namespace trigram::testing::routed_tokens_test {
namespace {

constexpr int experts = 2;
constexpr std::int64_t steps = 3;
constexpr double learning_rate = 0.03125;

/// What an expert receives in a step from the ranks at one place on the data axis: the squares of values, added up.
double squares(int data, int expert, std::int64_t step) {
  double sum = 0;
  for (int source = 0; source < experts; ++source) {
    for (int slot = 0; slot < experts; ++slot) {
      if ((slot + data + step) % experts != expert) continue;
      const double value = 1 + static_cast<double>((data + 2 * source + slot + step) % 3);
      sum += value * value;
    }
  }
  return sum;
}

/// The weight of an expert before a step: w ← w − rate · mean over data of (w · squares).
double weight_before(std::int64_t step, int expert, int replicas) {
  double weight = 1 + expert;
  for (std::int64_t done = 0; done < step; ++done) {
    double mean = 0;
    for (int data = 0; data < replicas; ++data) mean += squares(data, expert, done) / replicas;
    weight -= learning_rate * weight * mean;
  }
  return weight;
}

/// What a rank's tokens cost: ½ (weight of the expert · value)².
double loss_of(int data, int source, std::int64_t step, int replicas) {
  double loss = 0;
  for (int slot = 0; slot < experts; ++slot) {
    const auto expert = static_cast<int>((slot + data + step) % experts);
    const double value = 1 + static_cast<double>((data + 2 * source + slot + step) % 3);
    loss += std::pow(weight_before(step, expert, replicas) * value, 2) / 2;
  }
  return loss;
}

using Case = std::tuple<Place, int>;
class RoutedTokens : public ::testing::TestWithParam<Case> {
 protected:
  static Training train(const std::string& algorithm) {
    const auto& [place, ranks] = GetParam();
    TrainingOptions options;
    options.algorithm = algorithm;
    options.workload = "routed_tokens";
    options.steps = steps;
    options.evaluate_every = 1;
    options.learning_rate = learning_rate;
    options.record_all = options.keep_weights = true;
    World world;
    world.ranks = ranks;
    world.mesh = "data=" + std::to_string(ranks / experts) + ",expert=" + std::to_string(experts);
    return run_training(*Backends::make(place.backend), world, options);
  }
};

TEST_P(RoutedTokens, LearnAsOnPaper) {
  const int ranks = std::get<1>(GetParam()), replicas = ranks / experts;
  const Training training = train("all_reduce");
  for (const RankReport& rank : training.ranks) {
    const int data = rank.rank / experts, expert = rank.rank % experts;
    EXPECT_NEAR(rank.weights.front().front(), weight_before(steps, expert, replicas), 1e-5) << "rank " << rank.rank;
    for (const StepRow& row : rank.steps) {
      EXPECT_NEAR(row.loss, loss_of(data, expert, row.step, replicas), 1e-4) << "rank " << rank.rank;
      // A token of 4 bytes to the other expert and one back; then gradients of 3 elements by a ring along data.
      const std::int64_t ring = replicas == 1 ? 0 : 4 * 2 * 3 * (replicas - 1) / replicas;
      EXPECT_EQ(row.bytes_sent, 2 * 4 + ring) << "rank " << rank.rank;
    }
  }
}

// Experts differ, replicas of one do not.
TEST_P(RoutedTokens, AreEvaluatedLineByLine) {
  const int replicas = std::get<1>(GetParam()) / experts;
  const std::vector<EvalRow> rows = evaluations(train("all_reduce"));
  ASSERT_EQ(rows.size(), static_cast<std::size_t>(steps + 1));
  for (const EvalRow& row : rows) {
    double mean = 0;
    for (int expert = 0; expert < experts; ++expert) mean += weight_before(row.step, expert, replicas) / experts;
    EXPECT_NEAR(row.loss, mean, 1e-5) << "step " << row.step;
    EXPECT_EQ(row.consensus_distance, 0) << "step " << row.step;
  }
}

TEST_P(RoutedTokens, NeedTheirAxis) {
  const auto& [place, ranks] = GetParam();
  World world;
  world.ranks = ranks;
  TrainingOptions options;
  options.workload = "routed_tokens";
  try {
    check(options, world, *Backends::make(place.backend));
    ADD_FAILURE() << "there is no axis expert";
  } catch (const UsageError& error) {
    EXPECT_EQ(std::string(error.what()),
              "workload 'routed_tokens' puts an expert on each place of an axis expert, but the mesh is data=" +
                  std::to_string(ranks) + "; add it, as data=4,expert=2");
  }
}

INSTANTIATE_TEST_SUITE_P(Everywhere, RoutedTokens,
                         ::testing::Combine(::testing::ValuesIn(all_places(2)), ::testing::Values(4, 6)),
                         [](const auto& one) {
                           return std::get<0>(one.param).name + "_on_" + std::to_string(std::get<1>(one.param));
                         });

}  // namespace
}  // namespace trigram::testing::routed_tokens_test
