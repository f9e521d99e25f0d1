// Processes of a job whose own loop trains, with the trainer's weights to the last bit.
#include <gtest/gtest.h>

#include "backends/mpi/session.hpp"
#include "tests/support/driven_loop.hpp"

namespace trigram::testing {
namespace {

class EnteredMpi : public ::testing::TestWithParam<std::string> {
 protected:
  static void expect_same_weights(Steps steps) {
    TrainingOptions options;
    options.algorithm = GetParam();
    options.steps = 5;
    options.buckets.bytes = 1024;
    options.relaxation.seed = 5;
    options.keep_weights = true;
    World world;
    world.ranks = mpi::Session::join().ranks();
    world.bucket_lanes = 2;
    const auto backend = Backends::make("mpi:ranks_per_node=2,timeout=60s");
    const Training trained = run_training(*backend, world, options);
    expect_weights_of(drive_as_entered(*backend, world, options, steps), trained);
  }
};

TEST_P(EnteredMpi, LoopsHaveTheTrainersWeights) { expect_same_weights(Steps::by_the_object); }
TEST_P(EnteredMpi, LoopsMayStepTheWeightsThemselves) { expect_same_weights(Steps::by_the_loop); }

INSTANTIATE_TEST_SUITE_P(SomeAlgorithms, EnteredMpi,
                         ::testing::Values("all_reduce", "bytegrad", "local_sgd", "decentralized", "one_bit_adam"),
                         [](const auto& algorithm) { return algorithm.param; });

}  // namespace
}  // namespace trigram::testing
