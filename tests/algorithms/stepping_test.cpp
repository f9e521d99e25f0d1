// Methods that step weights by rules of their own, beside the same rules in f64 on the host.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/algorithms/script.hpp"
#include "tests/algorithms/worlds.hpp"

namespace trigram::testing::stepping_test {
namespace {

constexpr int elements = 19;
constexpr int ranks = 4;
constexpr double rate = 0.125;  // of `scripted`

double first_weight(std::int64_t element) { return static_cast<double>(element % 7) - 3; }

/// Depends on weights, so that rules which read others differ; 0 of element 3.
double gradient(std::int64_t step, int rank, std::int64_t element, double weight) {
  if (element == 3) return 0;
  const double phase = 2.7 * static_cast<double>(1 + step) + 3.1 * rank + 0.7 * static_cast<double>(element);
  return std::sin(phase) + 0.5 * weight;
}

using Weights = std::vector<double>;

Weights first_weights() {
  Weights weights;
  for (int i = 0; i < elements; ++i) weights.push_back(first_weight(i));
  return weights;
}

double mean_gradient(std::int64_t step, std::size_t element, double weight) {
  double sum = 0;
  for (int rank = 0; rank < ranks; ++rank) sum += gradient(step, rank, static_cast<std::int64_t>(element), weight);
  return sum / ranks;
}

/// The weights after so many steps, which all ranks share.
std::vector<float> trained(const std::string& algorithm, std::int64_t steps, std::int64_t alignment = 1) {
  Script script;
  script.layers = {6, 9, 4};
  script.initial = [](std::int64_t element) { return static_cast<float>(first_weight(element)); };
  script.gradient = [](std::int64_t step, int rank, std::int64_t element, float weight) {
    return static_cast<float>(gradient(step, rank, element, weight));
  };
  play(script);
  TrainingOptions options = scripted(algorithm, steps);
  options.evaluate_every = 0;
  options.buckets.alignment = alignment;
  const auto weights = weights_of(train_on(threads(2), ranks, options));
  for (const auto& other : weights) EXPECT_EQ(other, weights[0]);
  return weights[0];
}

void expect_near(const std::vector<float>& found, const Weights& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 4e-6) << "element " << i;
}

/// Where every rank goes alone from `begin` in these steps, on average.
Weights alone(const Weights& begin, std::int64_t from, std::int64_t to) {
  Weights mean(begin.size(), 0.0);
  for (int rank = 0; rank < ranks; ++rank) {
    for (std::size_t i = 0; i < begin.size(); ++i) {
      double weight = begin[i];
      for (std::int64_t step = from; step < to; ++step)
        weight -= rate * gradient(step, rank, static_cast<std::int64_t>(i), weight);
      mean[i] += weight / ranks;
    }
  }
  return mean;
}

TEST(OuterSteps, AreNesterovsAlongTheDifference) {
  // d = x_begin − mean x, m ← μ m + d, x ← x_begin − γ (d + μ m)
  Weights weights = first_weights(), momentum(elements, 0.0);
  for (std::int64_t round = 0; round < 3; ++round) {
    const Weights mean = alone(weights, 2 * round, 2 * round + 2);
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const double difference = weights[i] - mean[i];
      momentum[i] = 0.5 * momentum[i] + difference;
      weights[i] -= 0.75 * (difference + 0.5 * momentum[i]);
    }
  }
  expect_near(trained("diloco:every=2,outer=(nesterov:momentum=0.5),outer_lr=0.75", 6), weights);
}

TEST(OuterSteps, WithHeavyBallMomentumAreSlowMo) {
  // u ← β u + (x_begin − mean x)/γ, x ← x_begin − α γ u
  Weights weights = first_weights(), slow(elements, 0.0);
  for (std::int64_t round = 0; round < 3; ++round) {
    const Weights mean = alone(weights, 3 * round, 3 * round + 3);
    for (std::size_t i = 0; i < weights.size(); ++i) {
      slow[i] = 0.6 * slow[i] + (weights[i] - mean[i]) / rate;
      weights[i] -= 0.9 * rate * slow[i];
    }
  }
  expect_near(trained("diloco:every=3,outer=(momentum:momentum=0.6),outer_lr=0.9", 9), weights);
}

/// Adam whose second moment and its bias correction stay those of step `warmup`.
Weights frozen_adam(std::int64_t warmup, std::int64_t steps) {
  constexpr double beta1 = 0.9F, beta2 = 0.999F;  // as f32 has them
  Weights weights = first_weights(), first(elements, 0.0), second(elements, 0.0);
  for (std::int64_t step = 0; step < steps; ++step) {
    const auto frozen_at = static_cast<double>(std::min(step + 1, warmup));
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const double along = mean_gradient(step, i, weights[i]);
      first[i] = beta1 * first[i] + (1 - beta1) * along;
      if (step < warmup) second[i] = beta2 * second[i] + (1 - beta2) * along * along;
      const double root = std::sqrt(second[i] / (1 - std::pow(beta2, frozen_at))) + 1e-8;
      weights[i] -= rate * first[i] / (1 - std::pow(beta1, static_cast<double>(step + 1))) / root;
    }
  }
  return weights;
}

TEST(OneBitAdam, WithTheIdentityCodecIsAdamWithAFrozenSecondMoment) {
  for (const std::int64_t warmup : {1, 2, 4}) {
    const std::string spec = "one_bit_adam:codec=identity,warmup=" + std::to_string(warmup);
    expect_near(trained(spec, 7), frozen_adam(warmup, 7));
    EXPECT_EQ(trained(spec + ",error_feedback=off", 7), trained(spec, 7));
  }
}

TEST(OneBitAdam, LeavesAloneWhatNeverHadAGradient) {
  // One bit is a sign, of zeros too; what is decoded may not be divided by ε. Padding has no gradient either.
  for (const std::int64_t alignment : {1, 8}) {
    const std::vector<float> weights = trained("one_bit_adam:warmup=2", 8, alignment);
    EXPECT_EQ(weights[3], static_cast<float>(first_weight(3)));
    for (std::size_t i = 0; i < weights.size(); ++i)
      EXPECT_LT(std::abs(weights[i] - first_weight(static_cast<std::int64_t>(i))), 8 * rate * 10) << "element " << i;
  }
}

}  // namespace
}  // namespace trigram::testing::stepping_test
