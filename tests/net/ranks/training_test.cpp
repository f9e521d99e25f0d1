// The same training on ranks that a net plugin connects and in the simulator, to the last bit.
#include "core/training/training.hpp"

#include <gtest/gtest.h>

#include "core/step/algorithm.hpp"
#include "core/values/error.hpp"
#include "tests/algorithms/worlds.hpp"
#include "tests/support/same_bits.hpp"

namespace trigram::testing {
namespace {

constexpr int ranks = 4;

TrainingOptions options_of(const std::string& algorithm, bool overlap) {
  TrainingOptions options = kept_training(algorithm);
  options.relaxation.overlap = overlap;
  return options;
}

Training train(const std::string& backend, const TrainingOptions& options) {
  World world;
  world.ranks = ranks;
  world.bucket_lanes = 2;
  return run_training(*Backends::make(backend + ":ranks_per_node=2"), world, options);
}

class SameBitsByNet : public ::testing::TestWithParam<std::string> {
 protected:
  static void expect_with(bool overlap) {
    if (!Algorithms::make(GetParam())->deterministic()) GTEST_SKIP() << GetParam() << " depends on timing";
    const TrainingOptions options = options_of(GetParam(), overlap);
    Training simulated;
    try {
      simulated = train("sim", options);
    } catch (const UsageError& refusal) {
      GTEST_SKIP() << refusal.what();
    }
    expect_same_bits(train("net", options), simulated, sent_bytes_of(GetParam()));
  }
};

TEST_P(SameBitsByNet, WithOverlap) { expect_with(true); }
TEST_P(SameBitsByNet, WithoutOverlap) { expect_with(false); }

INSTANTIATE_TEST_SUITE_P(EveryAlgorithm, SameBitsByNet, ::testing::ValuesIn(shipped_algorithms()),
                         [](const auto& algorithm) { return algorithm.param; });

TEST(AsyncByNet, EndsWithEqualWeights) {
  const Training training = train("net", options_of("async_average", true));
  for (const RankReport& report : training.ranks) EXPECT_EQ(report.weights, training.ranks.front().weights);
}

}  // namespace
}  // namespace trigram::testing
