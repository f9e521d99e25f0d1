// A launched process enters with its GPU: its own loop trains as the trainer does, and its stream and ours follow each
// other.
#include <cuda_runtime.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/values/error.hpp"
#include "meeting/member.hpp"
#include "tests/gpu/job_size.hpp"
#include "tests/support/driven_loop.hpp"

namespace trigram::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

bool launched() { return member_of(launcher_environment()).has_value(); }

class EnteredGpu : public ::testing::TestWithParam<std::string> {
 protected:
  static void expect_same_weights(Steps steps) {
    if (!launched()) GTEST_SKIP() << "no launcher has started this process";
    TrainingOptions options;
    options.algorithm = GetParam();
    options.workload = "quadratic";
    options.steps = 5;
    options.buckets.bytes = 128;
    options.relaxation.seed = 5;
    options.keep_weights = true;
    const auto backend = Backends::make(on_gpus);
    const Training trained = run_training(*backend, world_of_all(), options);
    expect_weights_of(drive_as_entered(*backend, world_of_all(), options, steps), trained);
  }
};

TEST_P(EnteredGpu, LoopsHaveTheTrainersWeights) { expect_same_weights(Steps::by_the_object); }
TEST_P(EnteredGpu, LoopsMayStepTheWeightsThemselves) { expect_same_weights(Steps::by_the_loop); }

INSTANTIATE_TEST_SUITE_P(SomeAlgorithms, EnteredGpu,
                         ::testing::Values("all_reduce", "bytegrad", "local_sgd", "decentralized", "one_bit_adam"),
                         [](const auto& algorithm) { return algorithm.param; });

/// A stream of the caller's own, on which work takes its time.
TEST(EnteredGpuStream, FollowsOursAndIsFollowed) {
  if (!launched()) GTEST_SKIP() << "no launcher has started this process";
  constexpr std::int64_t many = 1 << 16;
  const auto backend = Backends::make(on_gpus);
  const auto rank = backend->enter(world_of_all());
  RankRuntime& runtime = rank->runtime();
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  rank->follow(stream);
  Device& main = *runtime.lane(0).device;
  const OwnedBuffer theirs = main.allocate(Shape::of(many, DType::u8));
  const OwnedBuffer ours = main.allocate(Shape::of(many, DType::u8));
  main.synchronize();
  std::vector<std::uint8_t> seen(many);
  for (int round = 1; round < 20; ++round) {
    cudaMemsetAsync(theirs.view().raw(), round, many, stream);
    runtime.take_turn();
    main.copy(theirs, ours);
    runtime.give_turn();
    cudaMemsetAsync(theirs.view().raw(), 0, many, stream);
    cudaMemcpyAsync(seen.data(), ours.view().raw(), many, cudaMemcpyDeviceToHost, stream);
    cudaStreamSynchronize(stream);
    EXPECT_THAT(seen, ::testing::Each(round));
  }
  rank->leave({});
  cudaStreamDestroy(stream);
}

TEST(EnteringAGpu, NeedsALauncher) {
  if (launched()) GTEST_SKIP() << "a launcher has started this process";
  EXPECT_THAT(
      [] { Backends::make("gpu")->enter(World{}); },
      ThrowsMessage<UsageError>(HasSubstr("backend 'gpu' starts its ranks itself where no launcher has, so that "
                                          "none can enter: start the processes with torchrun, mpirun or srun")));
}

}  // namespace
}  // namespace trigram::testing
