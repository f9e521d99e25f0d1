// All-reduces whose chunks flow: rings over mixed links, over every NIC of a node, and two trees.
#include <cmath>

#include "tests/sim/rig.hpp"

namespace trigram::testing::pipelined_test {
namespace {

constexpr double tolerance = 1e-6;

double all_reduce_seconds(const std::string& cluster, int ranks, const std::string& all_reduce, std::int64_t bytes) {
  World world;
  world.ranks = ranks;
  world.all_reduce = all_reduce;
  return durations(cluster, world, {all_reduce_of(bytes)}).front();
}

const char* const fidelities[] = {",fidelity=exact", ",fidelity=fluid"};

// 2(n−1)·α + 2(n−1)/n·M·β where all links are alike
TEST(PipelinedRing, IsTheRingOnOneGpuANode) {
  for (const int n : {2, 3, 8, 16}) {
    for (const char* fidelity : fidelities) {
      const std::int64_t bytes = 480'000 * n;
      expect_relative(all_reduce_seconds(flat(n) + fidelity, n, "pipelined_ring", bytes),
                      2 * (n - 1) * alpha + 2 * (n - 1) * 480'000 * beta, tolerance);
    }
  }
}

// Twice around, but for two edges inside a node: each border is crossed once a lap, where the ring of rounds pays a
// border in every round.
TEST(PipelinedRing, PaysTheSumOfItsEdges) {
  const std::string cluster = "sim:nodes=4,gpus_per_node=8,nic_bandwidth=100Gbps,nic_latency=1ms,node_latency=2us";
  const double latency = 2 * (4 * 1e-3 + 28 * 2e-6) - 2 * 2e-6;
  for (const char* fidelity : fidelities) {
    expect_relative(all_reduce_seconds(cluster + fidelity, 32, "pipelined_ring", 32'768'000),
                    latency + 62 * 1.024e6 * beta, tolerance);
    EXPECT_GT(all_reduce_seconds(cluster + fidelity, 32, "ring", 32'768'000), 62e-3);
  }
}

// Eight rings of an eighth each, one a NIC: 2(N−1)/N·M/8 through each
TEST(MultiRailRing, UsesEveryNicOfANode) {
  const std::string cluster = "sim:nodes=2,gpus_per_node=8,nic_bandwidth=100Gbps,nic_latency=5us,node_latency=2us,nic=";
  const double latency = 2 * (2 * 5e-6 + 14 * 2e-6) - 2 * 2e-6;
  for (const char* fidelity : fidelities) {
    expect_relative(all_reduce_seconds(cluster + "gpu" + fidelity, 16, "multi_rail_ring", 1'024'000'000),
                    latency + 30.0 / 16 * 1.024e9 / 8 * beta, tolerance);
    expect_relative(all_reduce_seconds(cluster + "node" + fidelity, 16, "multi_rail_ring", 1'024'000'000),
                    latency + 30.0 / 16 * 1.024e9 * beta, tolerance);
  }
}

// 2·⌈lg n⌉·α + 2·M·β: who has two children sends one and a half vectors in one tree, and half of one in the other
TEST(DoubleBinaryTree, HasLogarithmicLatencyAndTwiceTheBytes) {
  for (const int n : {4, 8, 16, 64}) {
    for (const char* fidelity : fidelities) {
      expect_relative(all_reduce_seconds(flat(n) + fidelity, n, "double_binary_tree", 64'000'000),
                      2 * std::log2(n) * alpha + 2 * 64e6 * beta, tolerance);
    }
  }
}

// A long stream is limited as one message is: (M'/W − 1)·2α + W·β for the M' of an edge
TEST(PipelinedRing, IsLimitedByTheWindowOfItsStreams) {
  const double window = 1 << 20, stream = 6.144e7;
  const std::string cluster = "sim:gpus_per_node=1,nic_bandwidth=100Gbps,nic_latency=1ms,nodes=4,nic_window=1MiB";
  for (const char* fidelity : fidelities) {
    expect_relative(all_reduce_seconds(cluster + fidelity, 4, "pipelined_ring", 40'960'000),
                    6e-3 + (stream / window - 1) * 2e-3 + window * beta, tolerance);
  }
}

}  // namespace
}  // namespace trigram::testing::pipelined_test
