// Partitions and credits: how many servers' links are busy at a time.
#include <gtest/gtest.h>

#include "tests/algorithms/script.hpp"
#include "tests/algorithms/worlds.hpp"

namespace trigram::testing::push_pull_test {
namespace {

constexpr int ranks = 4, partitions = 16, steps = 3;
constexpr std::int64_t elements_of_a_partition = 64'000;
constexpr double alpha = 5e-6, beta = 1 / 12.5e9;

/// Seconds of a step that takes no time to compute, with so many lanes.
double step_seconds(int lanes, const std::string& fidelity) {
  Script script;
  script.layers = {partitions * elements_of_a_partition};
  play(script);
  TrainingOptions options = scripted("push_pull:partition=256kB", steps);
  options.evaluate_every = 0;
  options.keep_weights = false;
  World world;
  world.ranks = ranks;
  world.bucket_lanes = lanes;
  const std::string cluster =
      "sim:nodes=4,gpus_per_node=1,nic_bandwidth=100Gbps,nic_latency=5us,gpu_memory_bandwidth=1e9GB/s,"
      "kernel_launch=0s,fidelity=" +
      fidelity;
  return run_training(*Backends::make(cluster), world, options).ranks[0].training_seconds / steps;
}

// A partition is pushed by n − 1 ranks through the server's link, and pulled by them through it.
constexpr double of_a_partition = 2 * (alpha + (ranks - 1) * 4 * elements_of_a_partition * beta);

TEST(PushPull, KeepsAsManyServersBusyAsPartitionsAreInFlight) {
  if (!Backends::has("sim")) GTEST_SKIP() << "this build has no simulator";
  for (const char* fidelity : {"exact", "fluid"}) {
    EXPECT_NEAR(step_seconds(1, fidelity) / (partitions * of_a_partition), 1, 0.01) << fidelity;
    EXPECT_NEAR(step_seconds(ranks, fidelity) / (partitions / ranks * of_a_partition), 1, 0.01) << fidelity;
    // No more than links carry: each rank sends 2(n−1)/n of all there is.
    const double least = 2.0 * (ranks - 1) / ranks * 4 * partitions * elements_of_a_partition * beta;
    EXPECT_GE(step_seconds(2 * ranks, fidelity), least) << fidelity;
    EXPECT_LE(step_seconds(2 * ranks, fidelity), partitions / ranks * of_a_partition * 1.01) << fidelity;
  }
}

}  // namespace
}  // namespace trigram::testing::push_pull_test
