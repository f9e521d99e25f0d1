// What windows and caps of connections let through, against an acknowledged stream of segments.
#include "backends/sim/cluster/connections.hpp"

#include <deque>

#include "tests/sim/rig.hpp"

namespace trigram::testing::connections_test {
namespace {

constexpr double latency = 1e-3;    ///< of `far`
constexpr double window = 1 << 20;  ///< bytes

/// Nodes of one GPU, 100 Gbps and a millisecond apart.
std::string far(int ranks, const std::string& more) {
  return "sim:gpus_per_node=1,nic_bandwidth=100Gbps,nic_latency=1ms,nodes=" + std::to_string(ranks) + "," + more;
}

/// A sender of 1 KiB segments on a wire of bandwidth 1/beta, with at most `window` bytes not acknowledged: seconds
/// until the last byte arrives.
double acknowledged_stream(std::int64_t bytes) {
  constexpr double segment = 1024;
  std::deque<double> acknowledged;  // of segments in flight
  double now = 0;
  for (double sent = 0; sent < static_cast<double>(bytes); sent += segment) {
    if (static_cast<double>(acknowledged.size() + 1) * segment > window) {
      now = std::max(now, acknowledged.front());
      acknowledged.pop_front();
    }
    now += segment * beta;
    acknowledged.push_back(now + 2 * latency);
  }
  return now + latency;
}

TEST(Connections, SendWhatAWindowOfUnacknowledgedBytesAllows) {
  for (const std::int64_t bytes : {1 << 16, 1 << 20, 3 << 20, 1 << 24, 1 << 28}) {
    expect_relative(duration(far(2, "nic_window=1MiB"), 2, shift_of(bytes)), acknowledged_stream(bytes), 0.01,
                    std::to_string(bytes));
  }
}

// α + M·2α/W for what is long, and as if windows were as large as all of them together where there are several
TEST(Connections, OfAPairShareItsMessages) {
  constexpr std::int64_t bytes = 1 << 30;
  const double one = latency + bytes * 2 * latency / window;
  expect_relative(duration(far(2, "nic_window=1MiB"), 2, shift_of(bytes)), one, 1e-2);
  expect_relative(duration(far(2, "nic_window=1MiB,connections=4"), 2, shift_of(bytes)), one / 4, 1e-2);
  expect_relative(duration(far(2, "nic_window=256KiB,connections=4"), 2, shift_of(bytes)), one, 1e-2);
}

// α + M/(k·cap), and never beyond the NIC
TEST(Connections, ReachTheirCap) {
  const auto seconds = [](const std::string& more) { return duration(flat(2, more), 2, shift_of(25'000'000)); };
  expect_relative(seconds("connection_cap=10Gbps"), alpha + 25e6 * 10 * beta, 1e-9);
  expect_relative(seconds("connection_cap=10Gbps,connections=4"), alpha + 25e6 * 2.5 * beta, 1e-9);
  expect_relative(seconds("connection_cap=10Gbps,connections=40"), alpha + 25e6 * beta, 1e-9);
}

// α + M/cap + (M/W − 1)·2α: a thread that waits copies nothing
TEST(Connections, CopyAndWaitByTurns) {
  constexpr double bytes = 1 << 28, cap = 2.5e9;
  const double alone = latency + bytes / cap + (bytes / window - 1) * 2 * latency;
  expect_relative(duration(far(2, "nic_window=1MiB,connection_cap=20Gbps"), 2, shift_of(1 << 28)), alone, 1e-6);
}

// Eight GPUs share a NIC of 100 Gbps: caps of 50 Gbps do not show, caps of 5 do.
TEST(Connections, LimitEachPairByItself) {
  const Operation shift_node = shift_of(10'000'000, 8);
  const std::string cluster = "sim:nodes=2,gpus_per_node=8,nic_bandwidth=100Gbps,nic_latency=5us,connection_cap=";
  expect_relative(duration(cluster + "50Gbps", 16, shift_node), alpha + 8e7 * beta, 1e-9);
  expect_relative(duration(cluster + "5Gbps", 16, shift_node), alpha + 1e7 * 20 * beta, 1e-9);
}

TEST(Connections, DoNotConcernMessagesInsideANode) {
  const std::string node = "sim:nodes=1,gpus_per_node=2,node_bandwidth=100GB/s,node_latency=2us";
  expect_relative(duration(node + ",connection_cap=1Gbps,nic_window=1KiB", 2, shift_of(10'000'000)), 2e-6 + 1e7 / 100e9,
                  1e-9);
}

// Rings round by round: 2(n−1)·(α + max(c·β, (c/W − 1)·2α + W·β))
TEST(Connections, SlowEveryRoundOfARing) {
  constexpr double chunk = 8 * window;
  const double round = latency + 7 * 2 * latency + window * beta;
  for (const char* fidelity : {"exact", "fluid"}) {
    const std::string cluster = far(4, std::string("nic_window=1MiB,fidelity=") + fidelity);
    expect_relative(duration(cluster, 4, all_reduce_of(4 * static_cast<std::int64_t>(chunk))), 6 * round, 1e-6);
  }
}

TEST(Connections, LimitFluidCollectivesAsTheyLimitMessages) {
  for (const char* nodes : {"nodes=4,gpus_per_node=4", "gpus_per_node=2 4 3"}) {
    for (const char* limit : {"nic_window=512KiB", "connection_cap=1Gbps", "nic_window=128KiB,connections=3",
                              "message_overhead=300us", "nic_window=512KiB,message_overhead=1ms"}) {
      expect_alike_in_both_fidelities(std::string("sim:nic_bandwidth=25Gbps,nic_latency=1ms,") + nodes + "," + limit,
                                      {all_to_all_of(4'000'000), by_leader_of(30'240'000), all_reduce_of(90'000'000)});
    }
  }
}

TEST(Connections, AreRefusedWhereTheyLimitNothing) {
  EXPECT_THROW(Backends::make(flat(2, "nic_window=1MiB,connections=0")), UsageError);
  EXPECT_THROW(Backends::make(flat(2, "connection_cap=10")), UsageError);
}

}  // namespace
}  // namespace trigram::testing::connections_test
