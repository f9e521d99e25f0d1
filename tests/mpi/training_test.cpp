// The same training on MPI and in the simulator, to the last bit.
#include "core/training/training.hpp"

#include <gtest/gtest.h>

#include "backends/mpi/session.hpp"
#include "core/step/algorithm.hpp"
#include "core/values/error.hpp"
#include "tests/algorithms/worlds.hpp"
#include "tests/support/same_bits.hpp"

namespace trigram::testing {
namespace {

TrainingOptions options_of(const std::string& algorithm, bool overlap, Hierarchy hierarchy) {
  TrainingOptions options = kept_training(algorithm);
  options.relaxation.overlap = overlap;
  options.relaxation.hierarchy = hierarchy;
  return options;
}

World world_of_all() {
  World world;
  world.ranks = mpi::Session::join().ranks();
  world.bucket_lanes = 2;
  return world;
}

/// The simulator's answer, or its refusal; the same in every process.
bool train_in_simulator(const World& world, const TrainingOptions& options, Training& training, std::string& refusal) {
  try {
    training = run_training(*Backends::make("sim:ranks_per_node=2"), world, options);
    return true;
  } catch (const UsageError& error) {
    refusal = error.what();
    return false;
  }
}

class SameBits : public ::testing::TestWithParam<std::string> {
 protected:
  static void expect_with(bool overlap, Hierarchy hierarchy, const std::string& mesh = "") {
    if (!Algorithms::make(GetParam())->deterministic()) GTEST_SKIP() << GetParam() << " depends on timing";
    World world = world_of_all();
    world.mesh = mesh;
    const TrainingOptions options = options_of(GetParam(), overlap, hierarchy);
    Training simulated;
    std::string refusal;
    if (!train_in_simulator(world, options, simulated, refusal)) GTEST_SKIP() << refusal;
    expect_same_bits(run_training(*Backends::make("mpi:ranks_per_node=2,timeout=60s"), world, options), simulated,
                     sent_bytes_of(GetParam()));
  }
};

TEST_P(SameBits, WithOverlap) { expect_with(true, Hierarchy::none); }
TEST_P(SameBits, WithoutOverlap) { expect_with(false, Hierarchy::none); }
TEST_P(SameBits, WithLeaders) { expect_with(true, Hierarchy::leader); }

TEST_P(SameBits, InTwoDataLines) {
  const int ranks = world_of_all().ranks;
  if (ranks % 2 == 1) GTEST_SKIP() << ranks << " ranks are no two lines";
  expect_with(true, Hierarchy::leader, "tensor=2,data=" + std::to_string(ranks / 2));
}

INSTANTIATE_TEST_SUITE_P(EveryAlgorithm, SameBits, ::testing::ValuesIn(shipped_algorithms()),
                         [](const auto& algorithm) { return algorithm.param; });

TEST(ChunksOnMpi, HaveTheSimulatorsBits) {
  World world = world_of_all();
  world.hierarchy_chunks = 3;
  for (const char* algorithm : {"all_reduce", "local_sgd", "power_sgd"}) {
    for (const bool overlap : {true, false}) {
      const TrainingOptions options = options_of(algorithm, overlap, Hierarchy::leader);
      Training simulated;
      std::string refusal;
      ASSERT_TRUE(train_in_simulator(world, options, simulated, refusal)) << refusal;
      expect_same_bits(run_training(*Backends::make("mpi:ranks_per_node=2,timeout=60s"), world, options), simulated,
                       sent_bytes_of(algorithm));
    }
  }
}

TEST(AsyncOnMpi, EndsWithEqualWeights) {
  const Training training = run_training(*Backends::make("mpi:timeout=60s"), world_of_all(),
                                         options_of("async_average", true, Hierarchy::none));
  for (const RankReport& report : training.ranks) EXPECT_EQ(report.weights, training.ranks.front().weights);
}

}  // namespace
}  // namespace trigram::testing
