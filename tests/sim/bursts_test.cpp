// What a NIC lets through that is shaped by a bucket of tokens.
#include "tests/sim/rig.hpp"

namespace trigram::testing::bursts_test {
namespace {

constexpr double burst = 50e6;         ///< bytes
constexpr double shaped = 1.25e9;      ///< bytes per second
constexpr double line_rate = 3.125e9;  ///< likewise

std::string shaping(int nodes, const std::string& more = "") {
  return "sim:gpus_per_node=1,nic_latency=5us,nodes=" + std::to_string(nodes) +
         ",nic_bandwidth=10Gbps,nic_burst=50MB,nic_line_rate=25Gbps" + more;
}

/// A bucket that is full, in steps of a microsecond: seconds until so many bytes have left.
double in_small_steps(double bytes) {
  constexpr double step = 1e-6;
  double tokens = burst, seconds = 0;
  for (; bytes > 0; seconds += step) {
    const double rate = tokens > 0 ? line_rate : shaped;
    tokens += (shaped - rate) * step;
    bytes -= rate * step;
  }
  return seconds;
}

// α + M / P while M ≤ B · P / (P − r), α + (M − B) / r beyond
TEST(Bursts, GoAtLineRateUntilTheBucketIsEmpty) {
  for (const double bytes : {1e6, 40e6, 83e6, 84e6, 200e6, 1e9}) {
    const double closed =
        bytes <= burst * line_rate / (line_rate - shaped) ? bytes / line_rate : (bytes - burst) / shaped;
    expect_relative(closed, in_small_steps(bytes), 0.01, std::to_string(bytes));
    expect_relative(duration(shaping(2), 2, shift_of(static_cast<std::int64_t>(bytes))), alpha + closed, 1e-6,
                    std::to_string(bytes));
  }
}

// Of 60 MB, which are announced, links carry 24, as of a message that is not: M · r / P.
TEST(Bursts, DoNotHideThatAMessageIsAnnounced) {
  const double closed = alpha + 10e-3 + 60e6 / line_rate;
  expect_relative(duration(shaping(2, ",nic_handshake=10ms,handshake_size=55MB"), 2, shift_of(60'000'000)), closed,
                  1e-4);
  expect_relative(duration(shaping(2, ",nic_handshake=10ms,handshake_size=60MB"), 2, shift_of(60'000'000)),
                  closed - 10e-3, 1e-4, "none is");
}

TEST(Bursts, OfTwoMessagesAreTheNics) {
  const auto both = [](RankRuntime& runtime) {
    Communicator& comm = *runtime.lane(0).comm;
    const Buffer half = phantom(100'000'000);
    const int other = 1 - comm.rank();
    comm.exchange({Transfer::send_to(other, half), Transfer::receive_from(other, half), Transfer::send_to(other, half),
                   Transfer::receive_from(other, half)});
  };
  expect_relative(duration(shaping(2), 2, both), alpha + (200e6 - burst) / shaped, 1e-6);
}

// Of a step, idle time earns what the wire then does not wait for: M / r a step, however long the rest of it is.
TEST(Bursts, MakeUpForIdleTime) {
  for (const char* fidelity : {",fidelity=exact", ",fidelity=fluid"}) {
    World world;
    world.ranks = 4;
    const std::string cluster = shaping(4, fidelity);
    const auto seconds =
        durations(cluster, world,
                  {all_reduce_of(400'000'000), idle_for(30e-3), all_reduce_of(100'000'000), idle_for(10e-3),
                   all_reduce_of(100'000'000), idle_for(1), all_reduce_of(400'000'000)});
    expect_relative(seconds[0], alpha + (600e6 - burst) / shaped, 1e-3, fidelity);
    expect_relative(seconds[1] + seconds[2], 150e6 / shaped, 1e-3, fidelity);
    expect_relative(seconds[3] + seconds[4], 150e6 / shaped, 1e-3, fidelity);
    expect_relative(seconds[6], seconds[0], 1e-3, std::string("a bucket is full after 40 ms") + fidelity);
  }
}

// While a long message leaves, later ones of the same NIC find no tokens, whatever they waited for.
TEST(Bursts, ComeBackOnlyWhenAllHasLeft) {
  const auto all = [](RankRuntime& runtime) {
    Communicator& comm = *runtime.lane(0).comm;
    const auto send = [&](std::int64_t bytes) {
      const int peer = (comm.rank() + 2) % 4;
      comm.exchange({Transfer::send_to(peer, phantom(bytes)), Transfer::receive_from(peer, phantom(bytes))});
    };
    if (comm.rank() % 2 == 0) return send(1'000'000'000);
    for (const auto& [seconds, bytes] : {std::pair(0.1, 1'000'000), std::pair(0.3, 100'000'000)}) {
      runtime.lane(0).device->charge_seconds(seconds);
      send(bytes);
    }
  };
  const std::string cluster =
      "sim:nodes=2,gpus_per_node=2,nic_latency=5us,nic_bandwidth=10Gbps,nic_burst=50MB,nic_line_rate=25Gbps";
  expect_relative(duration(cluster, 4, all), alpha + (1101e6 - burst) / shaped, 1e-3);
}

TEST(Bursts, OfAllNodesAreSpentByFlowsThatStandForThem) {
  for (const char* nodes :
       {"nodes=4,gpus_per_node=4", "gpus_per_node=2 4 3", "nodes=4,gpus_per_node=4,message_overhead=700us"}) {
    expect_alike_in_both_fidelities(
        std::string("sim:nic_bandwidth=10Gbps,nic_latency=100us,nic_burst=50MB,nic_line_rate=25Gbps,") + nodes,
        {all_reduce_of(30'000'000), by_leader_of(40'000'000), shift_of(3'000'000), all_to_all_of(4'000'000),
         all_reduce_of(60'000'000), last_to_first_of(60'000'000)});
  }
}

TEST(Bursts, AreRefusedWhereTheyCannotBe) {
  for (const char* wrong :
       {"nic_burst=1MB", "nic_line_rate=50Gbps", "nic_burst=1MB,nic_line_rate=10Gbps",
        "nic_burst=1MB,nic_line_rate=50Gbps,topology=fat_tree", "nic_burst=1MB,nic_line_rate=50Gbps,background=0>1",
        "nic_burst=1MB,nic_line_rate=50Gbps,changes=1s/nic_bandwidth/0/1Gbps"}) {
    EXPECT_THROW(Backends::make(std::string("sim:nic_bandwidth=25Gbps,") + wrong), UsageError) << wrong;
  }
}

}  // namespace
}  // namespace trigram::testing::bursts_test
