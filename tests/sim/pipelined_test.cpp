// All-reduces whose chunks flow: rings over mixed links, over every NIC of a node, and two trees.
#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/sim/rig.hpp"
#include "tests/sim/ring_by_slices.hpp"

namespace trigram::testing::pipelined_test {
namespace {

constexpr double tolerance = 1e-6;

double all_reduce_seconds(const std::string& cluster, int ranks, const std::string& all_reduce, std::int64_t bytes) {
  return duration(cluster, ranks, all_reduce_of(bytes), all_reduce);
}

const char* const fidelities[] = {",fidelity=exact", ",fidelity=fluid"};

// max(2(n−1)/n·M·β + α, 2(n−1)·α + M/n·β) where all links are alike: chunks that take a tenth of a latency, about as
// long, and 7680 times as long.
TEST(PipelinedRing, HidesLatenciesBehindBytesOrBytesBehindLatencies) {
  for (const int n : {2, 3, 8, 16}) {
    for (const std::int64_t chunk : {6'400, 64'000, 480'000'000}) {
      const double seconds = static_cast<double>(chunk) * beta, rounds = 2 * (n - 1);
      const double expected = std::max(rounds * seconds + alpha, rounds * alpha + seconds);
      for (const char* fidelity : fidelities)
        expect_relative(all_reduce_seconds(flat(n) + fidelity, n, "pipelined_ring", chunk * n), expected, tolerance);
      const std::vector<double> edges(static_cast<std::size_t>(n), 1.0);
      std::vector<double> latency = edges, times = edges;
      for (double& one : latency) one = alpha;
      for (double& one : times) one = seconds;
      expect_relative(ring_by_slices(latency, times, 2 * (n - 1)), expected, 0.005, "slices");
    }
  }
}

// Four nodes of eight: an edge in eight leaves its node. From latencies alone (twice around but for two edges inside a
// node, where the ring of rounds pays a border in every round) to bytes alone.
TEST(PipelinedRing, GoesAsSlicesDoOverMixedEdges) {
  const std::string cluster =
      "sim:nodes=4,gpus_per_node=8,nic_bandwidth=100Gbps,nic_latency=1ms,node_latency=2us,node_bandwidth=150GB/s";
  std::vector<double> latency(32, 2e-6);
  for (const std::size_t border : {7U, 15U, 23U, 31U}) latency[border] = 1e-3;
  for (const std::int64_t chunk : {320, 320'000, 1'600'000, 3'200'000, 32'000'000}) {
    std::vector<double> seconds(32, static_cast<double>(chunk) / 150e9);
    for (const std::size_t border : {7U, 15U, 23U, 31U}) seconds[border] = static_cast<double>(chunk) * beta;
    const double expected = ring_by_slices(latency, seconds, 62);
    for (const char* fidelity : fidelities)
      expect_relative(all_reduce_seconds(cluster + fidelity, 32, "pipelined_ring", 32 * chunk), expected, 0.02,
                      "chunks of " + std::to_string(chunk));
  }
  EXPECT_GT(all_reduce_seconds(cluster, 32, "ring", 32 * 320), 62e-3);
}

// Eight rings of an eighth each, one a NIC: 2(N−1)/N·M/8 through each, and one border.
TEST(MultiRailRing, UsesEveryNicOfANode) {
  const std::string cluster = "sim:nodes=2,gpus_per_node=8,nic_bandwidth=100Gbps,nic_latency=5us,node_latency=2us,nic=";
  for (const char* fidelity : fidelities) {
    expect_relative(all_reduce_seconds(cluster + "gpu" + fidelity, 16, "multi_rail_ring", 1'024'000'000),
                    5e-6 + 30.0 / 16 * 1.024e9 / 8 * beta, tolerance);
    expect_relative(all_reduce_seconds(cluster + "node" + fidelity, 16, "multi_rail_ring", 1'024'000'000),
                    5e-6 + 30.0 / 16 * 1.024e9 * beta, tolerance);
  }
}

// The last byte of a leaf goes all the way up and down after all others: nothing hides.
// 2·⌈lg n⌉·α + 2·M·β: who has two children sends one and a half vectors in one tree, and half of one in the other
TEST(DoubleBinaryTree, HasLogarithmicLatencyAndTwiceTheBytes) {
  for (const int n : {4, 8, 16, 64}) {
    for (const char* fidelity : fidelities) {
      expect_relative(all_reduce_seconds(flat(n) + fidelity, n, "double_binary_tree", 64'000'000),
                      2 * std::log2(n) * alpha + 2 * 64e6 * beta, tolerance);
    }
  }
}

// A long stream is limited as one message is: ⌈M'/W − 1⌉·2α and what is left for the M' of an edge, and one hop
TEST(PipelinedRing, IsLimitedByTheWindowOfItsStreams) {
  const double window = 1 << 20, stream = 6.144e7, full = std::ceil(stream / window - 1);
  const std::string cluster = "sim:gpus_per_node=1,nic_bandwidth=100Gbps,nic_latency=1ms,nodes=4,nic_window=1MiB";
  for (const char* fidelity : fidelities) {
    expect_relative(all_reduce_seconds(cluster + fidelity, 4, "pipelined_ring", 40'960'000),
                    1e-3 + full * 2e-3 + (stream - full * window) * beta, tolerance);
  }
}

}  // namespace
}  // namespace trigram::testing::pipelined_test
