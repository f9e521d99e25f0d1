// Gradients of 16 bits: what travels, how it is rounded and added, and that it costs what is declared.
#include <gtest/gtest.h>

#include "core/step/algorithm.hpp"
#include "tests/algorithms/script.hpp"
#include "tests/algorithms/worlds.hpp"

namespace trigram::testing::gradients_test {
namespace {

using Gradient = std::function<float(int rank)>;

/// Every element of a rank has the same gradient in every step.
void play_constant(const Gradient& of_rank) {
  Script script;
  script.layers = {6, 12, 2};
  script.dimensions = {{2, 3}, {12}, {2}};
  script.gradient = [of_rank](std::int64_t, int rank, std::int64_t, float) { return of_rank(rank); };
  play(script);
}

TrainingOptions options_with(const std::string& algorithm, DType gradients, std::int64_t steps) {
  TrainingOptions options = scripted(algorithm, steps);
  options.relaxation.gradients = gradients;
  options.relaxation.overlap = Algorithms::make(algorithm)->refuses(Option::overlap).empty();
  return options;
}

/// The weight that all elements of all ranks have after one step of 1/8.
float weight_after_a_step(const std::string& algorithm, DType gradients, const Gradient& of_rank) {
  play_constant(of_rank);
  const auto weights = weights_of(train_on(threads(1), 2, options_with(algorithm, gradients, 1)));
  for (const std::vector<float>& of_one : weights) {
    for (const float weight : of_one) EXPECT_EQ(weight, weights[0][0]) << algorithm;
  }
  return weights[0][0];
}

// f16 has 11 significant bits and bf16 has 8: 2048 + 1 and 256 + 1 lie half way, and go to the even neighbour.
TEST(SixteenBits, AreAddedAndRoundedOnceAnAddition) {
  for (const std::string algorithm : {"all_reduce", "push_pull"}) {
    const auto sum_of = [&](float first, DType type) {
      return weight_after_a_step(algorithm, type, [first](int rank) { return rank == 0 ? first : 1.0F; });
    };
    EXPECT_EQ(sum_of(2048, DType::f32), -2049.0F / 16) << algorithm;
    EXPECT_EQ(sum_of(2048, DType::f16), -2048.0F / 16) << algorithm;
    EXPECT_EQ(sum_of(2050, DType::f16), -2052.0F / 16) << algorithm;
    EXPECT_EQ(sum_of(256, DType::bf16), -256.0F / 16) << algorithm;
  }
}

// What does not average gradients in full precision gets them rounded all the same: 1 + 2^-11 is 1 in f16.
TEST(SixteenBits, AreWhatEveryMethodSteppingAlongItsOwnGradientSees) {
  const auto above_one = [](int) { return 1 + 0x1p-11F; };
  for (const char* algorithm : {"local_sgd", "decentralized", "sgp"}) {
    EXPECT_EQ(weight_after_a_step(algorithm, DType::f32, above_one), -(1 + 0x1p-11F) / 8) << algorithm;
    EXPECT_EQ(weight_after_a_step(algorithm, DType::f16, above_one), -0.125F) << algorithm;
  }
}

TEST(SixteenBits, HalveTheBytesOfMeansInFullPrecisionAndLeaveTheRest) {
  play_constant([](int rank) { return static_cast<float>(rank); });
  const auto bytes = [](const std::string& algorithm, DType type) {
    return train_on(threads(2), 4, options_with(algorithm, type, 2)).ranks[0].sent.bytes;
  };
  for (const char* algorithm : {"all_reduce", "push_pull", "one_bit_adam"}) {
    EXPECT_EQ(2 * bytes(algorithm, DType::bf16), bytes(algorithm, DType::f32)) << algorithm;
    EXPECT_EQ(2 * bytes(algorithm, DType::f16), bytes(algorithm, DType::f32)) << algorithm;
  }
  for (const char* algorithm : {"bytegrad", "decentralized"})
    EXPECT_EQ(bytes(algorithm, DType::f16), bytes(algorithm, DType::f32)) << algorithm;
}

TEST(SixteenBits, CostWhatEveryAlgorithmDeclares) {
  play_constant([](int rank) { return static_cast<float>(rank); });
  for (const std::string& name : shipped_algorithms()) {
    const auto algorithm = Algorithms::make(name);
    if (algorithm->trigram().synchrony != Trigram::Synchrony::synchronous) continue;
    for (const Hierarchy hierarchy : {Hierarchy::none, Hierarchy::leader}) {
      TrainingOptions options = options_with(name, DType::bf16, 3);
      if (hierarchy == Hierarchy::leader && !algorithm->refuses(Option::leader).empty()) continue;
      options.relaxation.hierarchy = hierarchy;
      for (const RankReport& report : train_on(threads(2), 4, options).ranks) {
        for (std::int64_t step = 0; step < 3; ++step)
          EXPECT_EQ(report.cost_by_step[static_cast<std::size_t>(step)],
                    declared_cost(threads(2), 4, options, report.rank, step))
              << name << ", " << name_of(hierarchy) << ", rank " << report.rank << ", step " << step;
      }
    }
  }
}

}  // namespace
}  // namespace trigram::testing::gradients_test
