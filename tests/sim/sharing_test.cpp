// Flows that share a link share it max-min fairly, whatever their latencies.
#include "tests/sim/rig.hpp"

namespace trigram::testing {
namespace {

/// Ranks 1 and 2 send `bytes` to rank 0 at once; the seconds at which each is done.
std::vector<double> two_senders(const std::string& cluster, std::int64_t bytes) {
  const auto results = run_ranks<double>(cluster, 3, [bytes](RankRuntime& runtime) {
    Communicator& comm = *runtime.lane(0).comm;
    if (comm.rank() == 0) {
      comm.exchange({Transfer::receive_from(1, phantom(bytes)), Transfer::receive_from(2, phantom(bytes))});
    } else {
      comm.exchange({Transfer::send_to(0, phantom(bytes))});
    }
    return std::vector<double>{runtime.now()};
  });
  return {results[1].front(), results[2].front()};
}

// Both end when the NIC has carried both: α + 2·M·β; the smaller latency gives no larger share.
TEST(Sharing, IsFairWhateverTheLatencies) {
  const auto seconds = two_senders(flat(3, "changes=(0s/nic_latency/2/500us)"), 125'000'000);
  const double near = alpha, far = alpha / 2 + 250e-6;  // a NIC pays half of its latency at each end
  // Alone for far − near seconds, the near flow is ahead by that; then both have half.
  expect_relative(seconds[0], near + (far - near) + 2 * (0.01 - (far - near)), 1e-6);
  expect_relative(seconds[1], near + 0.02, 1e-6);
}

// A flow that is slow elsewhere leaves its share: rates 25 and 75 Gbps.
TEST(Sharing, IsMaxMin) {
  const auto seconds = two_senders(flat(3, "changes=(0s/nic_bandwidth/2/25Gbps)"), 125'000'000);
  expect_relative(seconds[0], alpha + 125e6 / (0.75 * 12.5e9), 1e-6);
  expect_relative(seconds[1], alpha + 125e6 / (0.25 * 12.5e9), 1e-6);
}

TEST(Sharing, LeavesHalfToBackgroundTraffic) {
  const auto send = [](RankRuntime& runtime) {
    Communicator& comm = *runtime.lane(0).comm;
    if (comm.rank() == 0) comm.exchange({Transfer::send_to(1, phantom(125'000'000))});
    if (comm.rank() == 1) comm.exchange({Transfer::receive_from(0, phantom(125'000'000))});
  };
  expect_relative(duration(flat(2, "background=(0>1)"), 2, send), alpha + 0.02, 1e-6);
  expect_relative(duration(flat(2, "background=(0>1/25Gbps)"), 2, send), alpha + 0.01 / 0.75, 1e-5);
}

// Two leaves of two nodes: across, the uplink has half of what its two NICs have.
TEST(Sharing, OfAnOversubscribedUplink) {
  const auto seconds = [&](const std::string& more) {
    return duration(flat(4, "topology=fat_tree,leaf_nodes=2" + more), 4, shift_of(125'000'000, 2));
  };
  expect_relative(seconds(""), alpha + 0.01, 1e-6);
  expect_relative(seconds(",oversubscription=2,core_latency=1us"), alpha + 1e-6 + 0.02, 1e-6);
}

// GPUs of one node, 10 flows of 1 GB/s in sum: what arrives is what was sent, however sizes mix.
TEST(Sharing, OfOneNicIsWorkConserving) {
  const auto seconds =
      duration("sim:nodes=2,gpus_per_node=4,nic_bandwidth=1GB/s,nic_latency=5us", 8, [](RankRuntime& runtime) {
        Communicator& comm = *runtime.lane(0).comm;
        const Buffer x = phantom((comm.rank() % 4 + 1) * 1'000'000);
        if (comm.rank() < 4) comm.exchange({Transfer::send_to(comm.rank() + 4, x)});
        if (comm.rank() >= 4) comm.exchange({Transfer::receive_from(comm.rank() - 4, x)});
      });
  expect_relative(seconds, alpha + 10e6 / 1e9, 1e-6);
}

}  // namespace
}  // namespace trigram::testing
