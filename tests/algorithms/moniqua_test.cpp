// Moniqua's pairs: what travels modulo B is recovered up to the grid, and mixing never moves the mean.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/algorithms/script.hpp"
#include "tests/algorithms/worlds.hpp"

namespace trigram::testing::moniqua_test {
namespace {

constexpr std::int64_t elements = 300;
constexpr double step = 0x1p-10;
const std::string theta_of_that_step = "theta=0.123046875";  // 126 steps
constexpr double modulus = 255 * step;

using Gradient = float (*)(std::int64_t, int, std::int64_t, float);

/// Each rank's weights after so many steps, on a simulator, where the order of messages is that of computing.
std::vector<std::vector<float>> weights_after(const std::string& algorithm, int ranks, std::int64_t steps,
                                              Gradient gradient) {
  Script script;
  script.layers = {elements};
  script.initial = [](std::int64_t element) { return static_cast<float>(element % 7) - 3.0F; };
  script.gradient = gradient;
  script.layer_seconds = 1e-3;
  play(script);
  TrainingOptions options = scripted(algorithm, steps);
  options.evaluate_every = 0;
  return weights_of(train_on("sim:nodes=6,gpus_per_node=1", ranks, options));
}

/// Multiples of 2^-9, so that with the learning rate 1/8 weights stay on a grid of 2^-12, where every sum is exact.
float small_gradient(std::int64_t at, int rank, std::int64_t element, float) {
  return 0x1p-9F * static_cast<float>((at * 13 + rank * 29 + element * 7) % 31 - 15);
}

/// The same a thousand times as long: pairs are much farther apart than θ.
float large_gradient(std::int64_t at, int rank, std::int64_t element, float weight) {
  return 1024 * small_gradient(at, rank, element, weight);
}

/// In the first step alone, ranks of odd number move by element · 2^-6 − 2.
float first_step_apart(std::int64_t at, int rank, std::int64_t element, float) {
  return at == 0 && rank % 2 == 1 ? 16 - static_cast<float>(element) * 0x1p-3F : 0;
}

class MoniquaPairs : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!Backends::has("sim")) GTEST_SKIP() << "this build has no simulator";
  }
};

TEST_F(MoniquaPairs, NeverMoveTheMeanByABitHoweverFarApart) {
  constexpr int ranks = 6;
  constexpr std::int64_t steps = 12;
  for (const Gradient gradient : {&small_gradient, &large_gradient}) {
    const auto weights = weights_after("moniqua:" + theta_of_that_step, ranks, steps, gradient);
    const auto alone = weights_after("local_sgd:every=100", ranks, steps, gradient);
    EXPECT_NE(weights, alone);
    for (std::size_t i = 0; i < elements; ++i) {
      double sum = 0, expected = 0;
      for (std::size_t rank = 0; rank < ranks; ++rank) {
        sum += static_cast<double>(weights[rank][i]);
        expected += static_cast<double>(alone[rank][i]);
      }
      ASSERT_EQ(sum, expected) << "element " << i;
    }
  }
}

// Each mixing rounds both models to the grid, whose halved difference is off by half a step at most.
TEST_F(MoniquaPairs, AreThoseOfAdPsgdUpToTheGrid) {
  constexpr std::int64_t steps = 12;
  const auto rounded = weights_after("moniqua:" + theta_of_that_step, 2, steps, small_gradient);
  const auto exact = weights_after("ad_psgd", 2, steps, small_gradient);
  EXPECT_NE(rounded, exact);
  for (std::size_t rank = 0; rank < 2; ++rank) {
    for (std::size_t i = 0; i < elements; ++i)
      ASSERT_NEAR(rounded[rank][i], exact[rank][i], steps * step / 2) << "rank " << rank << ", element " << i;
  }
}

// Differences beyond θ are taken for what is left of them modulo B.
TEST_F(MoniquaPairs, MeetUpToAMultipleOfTheModulus) {
  const auto weights = weights_after("moniqua:" + theta_of_that_step, 2, 12, first_step_apart);
  std::size_t within = 0;
  for (std::size_t i = 0; i < elements; ++i) {
    const double before = static_cast<double>(i) * 0x1p-6 - 2;
    const double after = static_cast<double>(weights[1][i]) - static_cast<double>(weights[0][i]);
    const double expected = modulus * std::round(before / modulus);
    ASSERT_NEAR(after, expected, 2 * step) << "element " << i << " was apart by " << before;
    within += expected == 0 ? 1 : 0;
  }
  EXPECT_GT(within, 10U);
  EXPECT_LT(within, elements / 2);
}

TEST_F(MoniquaPairs, SendAQuarterOfTheBytes) {
  const auto sent = [](const std::string& algorithm) {
    Script script;
    script.layers = {elements};
    play(script);
    return train_on("sim:nodes=2,gpus_per_node=1", 2, scripted(algorithm, 3)).ranks[0].sent;
  };
  EXPECT_EQ(sent("moniqua"), (Cost{3, 3 * elements}));
  EXPECT_EQ(sent("ad_psgd"), (Cost{3, 3 * 4 * elements}));
}

}  // namespace
}  // namespace trigram::testing::moniqua_test
