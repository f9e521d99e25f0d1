// What windows and caps of connections let through, against an acknowledged stream of segments.
#include "core/network/connections.hpp"

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

/// A connection of 1 KiB segments on a wire of bandwidth 1/beta, with at most `window` bytes not acknowledged.
class AcknowledgedStream {
 public:
  /// Seconds until the last byte arrives that is sent from now on; the next ones are sent then.
  double send(std::int64_t bytes) {
    constexpr double segment = 1024;
    const double begin = now_;
    for (double sent = 0; sent < static_cast<double>(bytes); sent += segment) {
      if (static_cast<double>(acknowledged_.size() + 1) * segment > window) {
        now_ = std::max(now_, acknowledged_.front());
        acknowledged_.pop_front();
      }
      now_ += segment * beta;
      acknowledged_.push_back(now_ + 2 * latency);
    }
    now_ += latency;
    return now_ - begin;
  }

 private:
  std::deque<double> acknowledged_;  // of segments in flight
  double now_ = 0;
};

TEST(Connections, SendWhatAWindowOfUnacknowledgedBytesAllows) {
  for (const std::int64_t bytes : {1 << 16, 1 << 20, 3 << 19, 3 << 20, 5 << 18, 1 << 24, 1 << 28}) {
    expect_relative(duration(far(2, "nic_window=1MiB"), 2, shift_of(bytes)), AcknowledgedStream().send(bytes), 0.01,
                    std::to_string(bytes));
  }
}

// What a message before still has in flight is no room for the next.
TEST(Connections, HaveRoomForWhatWasAcknowledged) {
  World world;
  world.ranks = 2;
  const std::vector<std::int64_t> sizes = {600 << 10, 600 << 10, 1 << 18, 1 << 20, 1 << 20, 5 << 20, 1 << 10, 3 << 19};
  std::vector<Operation> operations;
  for (const std::int64_t bytes : sizes) operations.push_back(shift_of(bytes));
  const std::vector<double> seconds = durations(far(2, "nic_window=1MiB"), world, operations);
  AcknowledgedStream stream;
  for (std::size_t i = 0; i < sizes.size(); ++i)
    expect_relative(seconds[i], stream.send(sizes[i]), 0.03, std::to_string(i) + ". message");
}

// Acknowledged while ranks compute
TEST(Connections, AreOpenAfterARoundTrip) {
  World world;
  world.ranks = 2;
  const auto seconds =
      durations(far(2, "nic_window=1MiB"), world, {shift_of(1 << 20), idle_for(1e-3), shift_of(1 << 20)});
  expect_relative(seconds[2], seconds[0], 1e-6);
}

// α + M·2α/W for what is long, and as if windows were as large as all of them together where there are several
TEST(Connections, OfAPairShareItsMessages) {
  constexpr std::int64_t bytes = 1 << 30;
  const double one = latency + bytes * 2 * latency / window;
  expect_relative(duration(far(2, "nic_window=1MiB"), 2, shift_of(bytes)), one, 1e-2);
  expect_relative(duration(far(2, "nic_window=1MiB,connections=4"), 2, shift_of(bytes)), one / 4, 1e-2);
  expect_relative(duration(far(2, "nic_window=256KiB,connections=4"), 2, shift_of(bytes)), one, 1e-2);
}

// What is short goes over one of four, and what is much longer evenly over all.
TEST(Connections, HaveAShortMessageEachAndShareALongOne) {
  const std::string four = "nic_window=1MiB,connections=4,eager_size=8MiB";
  for (const std::int64_t bytes : {1 << 20, 3 << 20, 8 << 20}) {
    expect_relative(duration(far(2, four), 2, shift_of(bytes)), AcknowledgedStream().send(bytes), 0.01,
                    std::to_string(bytes));
  }
  expect_relative(duration(far(2, four), 2, shift_of(1 << 26)),
                  duration(far(2, "nic_window=1MiB,connections=4"), 2, shift_of(1 << 26)), 1e-9);
}

// Of 6 MiB the first two go with the question over one connection and wait a round trip; of the rest two connections
// have a quarter each and a third one what is left, which waits again.
TEST(Connections, SendWhatIsEagerWithTheQuestion) {
  const std::string asked = "nic_window=1MiB,eager_size=2MiB,nic_handshake=10ms,handshake_size=2MiB";
  const double first = 2 * latency + window * beta, handshake = 10e-3;
  const double third = 2 * latency + window * 2 * beta;  // at half of the wire
  expect_relative(duration(far(2, asked + ",connections=4"), 2, shift_of(6 << 20)), first + handshake + third + latency,
                  1e-6);
  expect_relative(duration(far(2, asked), 2, shift_of(6 << 20)),
                  first + handshake + 3 * 2 * latency + window * beta + latency, 1e-6);
  expect_relative(duration(far(2, asked), 2, shift_of(2 << 20)), first + latency, 1e-6, "nothing is asked");
}

// Of messages that follow each other, each finds a window that nothing was sent into for longer than a round trip.
TEST(Connections, TakeTurnsWithShortMessages) {
  World world;
  world.ranks = 2;
  const std::vector<Operation> eight(8, shift_of(1 << 20));
  const double open = latency + (1 << 20) * beta;
  for (const double one : durations(far(2, "nic_window=1MiB,connections=4,eager_size=1MiB"), world, eight))
    expect_relative(one, open, 1e-6);
  EXPECT_GT(durations(far(2, "nic_window=1MiB,connections=1"), world, eight)[3], 1.5 * open);
}

// 16 rounds of chunks of four windows: three round trips where one connection has all of it to send
TEST(Connections, TakeTurnsInRoundsOfARing) {
  for (const char* fidelity : {"exact", "fluid"}) {
    const std::string cluster =
        far(9, std::string("nic_window=1MiB,connections=4,eager_size=4MiB,fidelity=") + fidelity);
    const double one = latency + 3 * 2 * latency + (1 << 20) * beta;
    expect_relative(duration(cluster, 9, all_reduce_of(std::int64_t{9} * (4 << 20))), 16 * one, 1e-6, fidelity);
  }
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

// Rings round by round, with c the bytes of a chunk: the first takes α + max(c·β, (c/W − 1)·2α + W·β), and as what it
// has in flight at last is acknowledged α after it has come, each later one c/W·2α
TEST(Connections, SlowEveryRoundOfARing) {
  constexpr double chunk = 8 * window;
  const double first = latency + 7 * 2 * latency + window * beta, later = 8 * 2 * latency;
  for (const char* fidelity : {"exact", "fluid"}) {
    const std::string cluster = far(4, std::string("nic_window=1MiB,fidelity=") + fidelity);
    expect_relative(duration(cluster, 4, all_reduce_of(4 * static_cast<std::int64_t>(chunk))), first + 5 * later, 1e-6);
  }
}

TEST(Connections, LimitFluidCollectivesAsTheyLimitMessages) {
  for (const char* nodes : {"nodes=4,gpus_per_node=4", "gpus_per_node=2 4 3"}) {
    for (const char* limit : {"nic_window=512KiB", "connection_cap=1Gbps", "nic_window=128KiB,connections=3",
                              "nic_window=128KiB,connections=3,eager_size=2MiB", "message_overhead=300us",
                              "nic_window=512KiB,message_overhead=1ms"}) {
      expect_alike_in_both_fidelities(std::string("sim:nic_bandwidth=25Gbps,nic_latency=1ms,") + nodes + "," + limit,
                                      {all_to_all_of(4'000'000), by_leader_of(30'240'000), all_reduce_of(90'000'000)});
    }
  }
}

TEST(Connections, AreRefusedWhereTheyLimitNothing) {
  EXPECT_THROW(Backends::make(flat(2, "nic_window=1MiB,connections=0")), UsageError);
  EXPECT_THROW(Backends::make(flat(2, "connection_cap=10")), UsageError);
  EXPECT_THROW(Backends::make(flat(2, "nic_window=1MiB,eager_size=64KiB")), UsageError);
}

}  // namespace
}  // namespace trigram::testing::connections_test
