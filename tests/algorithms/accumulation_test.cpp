// Micro-batches: one exchange of their mean gradient, at the time that they all take.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/values/error.hpp"
#include "tests/algorithms/script.hpp"
#include "tests/algorithms/worlds.hpp"

namespace trigram::testing::accumulation_test {
namespace {

constexpr double layer_seconds = 1e-3;
constexpr std::int64_t layers = 3, elements = 12;

/// The batch of number `step` has the gradient step + 1 everywhere.
void play_counting() {
  Script script;
  script.layers.assign(layers, elements);
  script.gradient = [](std::int64_t step, int, std::int64_t, float) { return static_cast<float>(step + 1); };
  script.layer_seconds = layer_seconds;
  play(script);
}

TrainingOptions accumulating(const std::string& algorithm, int micro_batches, std::int64_t steps) {
  play_counting();
  TrainingOptions options = scripted(algorithm, steps);
  options.accumulate = micro_batches;
  return options;
}

// Three steps of four micro-batches: means 2.5, 6.5 and 10.5.
TEST(Accumulation, StepsAlongTheMeanOverMicroBatches) {
  for (const char* algorithm : {"all_reduce", "local_sgd:every=1", "decentralized", "push_pull"}) {
    for (const std::vector<float>& weights : weights_of(train_on(threads(2), 4, accumulating(algorithm, 4, 3)))) {
      EXPECT_THAT(weights, ::testing::Each(::testing::FloatNear(-(2.5F + 6.5F + 10.5F) / 8, 1e-5F))) << algorithm;
    }
  }
}

TEST(Accumulation, ExchangesOnceAStep) {
  for (const char* algorithm : {"all_reduce", "bytegrad", "decentralized", "one_bit_adam:warmup=2"}) {
    const Training one = train_on(threads(2), 4, accumulating(algorithm, 1, 4));
    const Training four = train_on(threads(2), 4, accumulating(algorithm, 4, 4));
    for (std::size_t rank = 0; rank < 4; ++rank)
      EXPECT_EQ(four.ranks[rank].cost_by_step, one.ranks[rank].cost_by_step) << algorithm;
  }
}

// What a step exchanges hides behind the last backward alone, as it does without accumulation.
TEST(Accumulation, TakesTheComputeTimeOfAllMicroBatches) {
  if (!Backends::has("sim")) GTEST_SKIP() << "this build has no simulator";
  constexpr std::int64_t steps = 5;
  constexpr double compute = 2 * layers * layer_seconds;  // forward and backward
  for (const char* algorithm : {"all_reduce", "decentralized:mix=after", "bytegrad"}) {
    const auto seconds = [&](int micro_batches) {
      return train_on(simulator(2), 4, accumulating(algorithm, micro_batches, steps)).ranks[0].training_seconds / steps;
    };
    EXPECT_NEAR(seconds(4) - seconds(1), 3 * compute, 1e-9) << algorithm;
  }
}

TEST(Accumulation, GoesOnFromACheckpoint) {
  TrainingOptions options = accumulating("one_bit_adam:warmup=1", 3, 4);
  options.relaxation.gradients = DType::bf16;
  options.checkpoint.every = 2;
  options.checkpoint.keep = true;
  const Training whole = train_on(threads(2), 4, options);
  const Training half = whole;  // its reports hold what ranks had after step 2
  options.checkpoint.load = [&half](int rank) { return half.ranks[static_cast<std::size_t>(rank)].state; };
  EXPECT_EQ(weights_of(train_on(threads(2), 4, options)), weights_of(whole));
}

TEST(Accumulation, RefusesNumbersThatCannotBe) {
  const auto refusal = [](int micro_batches, std::int64_t steps) -> std::string {
    try {
      train_on(threads(2), 2, accumulating("all_reduce", micro_batches, steps));
      return "accepted";
    } catch (const UsageError& error) {
      return error.what();
    }
  };
  EXPECT_THAT(refusal(0, 4), ::testing::HasSubstr("0 micro-batches in each of 4 steps"));
  EXPECT_THAT(refusal(3, 400'000'000), ::testing::HasSubstr("no more than 1e9 in all steps"));
}

}  // namespace
}  // namespace trigram::testing::accumulation_test
