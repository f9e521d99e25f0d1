// Slow ranks, changes over time, and failures that name rank, peer and time.
#include <gmock/gmock.h>

#include "tests/sim/rig.hpp"

namespace trigram::testing::events_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// Rank 0 sends to rank 1.
Operation message(std::int64_t bytes) {
  return [bytes](RankRuntime& runtime) {
    Communicator& comm = *runtime.lane(0).comm;
    if (comm.rank() == 0) comm.exchange({Transfer::send_to(1, phantom(bytes))});
    if (comm.rank() == 1) comm.exchange({Transfer::receive_from(0, phantom(bytes))});
  };
}

Operation compute(double seconds) {
  return [seconds](RankRuntime& runtime) { runtime.lane(0).device->charge_seconds(seconds); };
}

TEST(SlowRanks, TakeLonger) {
  expect_relative(duration(flat(3), 3, compute(1e-3)), 1e-3, 1e-9);
  expect_relative(duration(flat(3, "slow=1:4"), 3, compute(1e-3)), 4e-3, 1e-9);
  expect_relative(duration(flat(3, "slow=1:4 2:1.5"), 2, compute(1e-3)), 4e-3, 1e-9);
}

TEST(Changes, OfSpeedActInTheMiddleOfAKernel) {
  // 1 ms of work: half of it at full speed, the rest at a third.
  expect_relative(duration(flat(2, "changes=(0.5ms/slow/1/3)"), 2, compute(1e-3)), 2e-3, 1e-6);
  // At half speed until 1 ms, then at double.
  expect_relative(duration(flat(2, "slow=0:2,changes=(1ms/slow/0/0.5)"), 1, compute(1e-3)), 1.25e-3, 1e-6);
}

TEST(Changes, OfSpeedKeepEveryDigitOfTimesAndFactors) {
  // At half speed until 1.25 us, then at full.
  expect_relative(duration(flat(1, "slow=0:2,changes=(1.25us/slow/0/1)"), 1, compute(2e-6)), 2.625e-6, 1e-9);
  for (const std::string factor : {"3e5", "2e6", "9e8"}) {
    const double slow = std::stod(factor);
    expect_relative(duration(flat(1, "timeout=1e9s,slow=0:" + factor + ",changes=(1s/slow/0/1)"), 1, compute(1e-3)),
                    1 + 1e-3 - 1 / slow, 1e-9, "from slow " + factor);
    expect_relative(duration(flat(1, "timeout=1e9s,changes=(0.5ms/slow/0/" + factor + ")"), 1, compute(1e-3)),
                    0.5e-3 * (1 + slow), 1e-9, "to slow " + factor);
  }
}

// 125 MB at 12.5 GB/s are 10 ms.
TEST(Changes, OfBandwidthActInTheMiddleOfAMessage) {
  const double begun = 5e-3 - alpha;  // seconds of full bandwidth before 5 ms
  expect_relative(duration(flat(2, "changes=(5ms/nic_bandwidth/0/50Gbps)"), 2, message(125'000'000)),
                  5e-3 + (0.01 - begun) * 2, 1e-6);
  expect_relative(
      duration(flat(2, "changes=(5ms/nic_bandwidth/0/200Gbps 5ms/nic_bandwidth/1/200Gbps)"), 2, message(125'000'000)),
      5e-3 + (0.01 - begun) / 2, 1e-6);
  expect_relative(
      duration(flat(2, "changes=(5ms/nic_bandwidth/0/50Gbps 6ms/nic_bandwidth/0/100Gbps)"), 2, message(125'000'000)),
      6e-3 + 0.01 - begun - 0.5e-3, 1e-6);
}

TEST(Changes, OfLatencyActOnLaterMessages) {
  const auto two = [](RankRuntime& runtime) {
    message(125'000)(runtime);
    message(125'000)(runtime);
  };
  // The change comes while the first message is in its latency.
  expect_relative(duration(flat(2, "changes=(2us/nic_latency/0/95us)"), 2, two), alpha + 50e-6 + 20e-6, 1e-6);
}

TEST(Changes, OfNodeLinksActInsideTheNode) {
  const std::string node = "sim:nodes=1,gpus_per_node=2,node_bandwidth=100GB/s,node_latency=4us";
  expect_relative(duration(node, 2, message(100'000'000)), 4e-6 + 1e-3, 1e-6);
  expect_relative(duration(node + ",changes=(0s/node_bandwidth/1/50GB/s)", 2, message(100'000'000)), 4e-6 + 2e-3, 1e-3);
}

TEST(Faults, OfALinkNameRankPeerAndTime) {
  for (const char* fidelity : {"fidelity=exact", "fidelity=fluid"}) {
    const std::string text =
        failure<BackendError>(flat(8, "faults=(5ms/nic/3)," + std::string(fidelity)), 8, all_reduce_of(100'000'000));
    EXPECT_THAT(text, AllOf(HasSubstr("lost rank"), HasSubstr("rank 3"), HasSubstr("0.005 s"))) << fidelity;
  }
}

TEST(Faults, OfALinkAreNoticedByLaterMessages) {
  const auto later = [](RankRuntime& runtime) {
    runtime.lane(0).device->charge_seconds(1e-3);
    message(1000)(runtime);
  };
  EXPECT_THAT(failure<BackendError>(flat(2, "faults=(0.5ms/nic/1)"), 2, later),
              AllOf(HasSubstr("rank 0"), HasSubstr("rank 1"), HasSubstr("0.001 s")));
}

TEST(Faults, OfAHostNameRankPeerAndTime) {
  for (const char* part : {"gpu", "node"}) {
    for (const char* fidelity : {"fidelity=exact", "fidelity=fluid"}) {
      const std::string more = "faults=(5ms/" + std::string(part) + "/3)," + fidelity;
      EXPECT_THAT(failure<BackendError>(flat(8, more), 8, all_reduce_of(100'000'000)),
                  AllOf(HasSubstr("lost rank 3"), HasSubstr("0.005 s"), HasSubstr("failed")));
    }
  }
}

TEST(Faults, OfAHostThatComputesReachWhoeverWaitsForIt) {
  const auto straggle = [](RankRuntime& runtime) {
    if (runtime.lane(0).comm->rank() == 3) runtime.lane(0).device->charge_seconds(1.0);
    all_reduce_of(1'000'000)(runtime);
  };
  EXPECT_THAT(failure<BackendError>(flat(8, "faults=(0.5s/gpu/3)"), 8, straggle),
              AllOf(HasSubstr("lost rank 3"), HasSubstr("0.5 s")));
}

TEST(Faults, OfAHostReachWhoeverNeedsItLater) {
  const auto late = [](RankRuntime& runtime) {
    runtime.lane(0).device->charge_seconds(1.0);
    all_reduce_of(1'000'000)(runtime);
  };
  EXPECT_THAT(failure<BackendError>(flat(8, "faults=(0.5s/gpu/3)"), 8, late),
              AllOf(HasSubstr("lost rank 3 at 1 s"), HasSubstr("failed at 0.5 s")));
}

TEST(Faults, OfAHostThatNobodyNeedsStillFailTheRun) {
  EXPECT_THAT(failure<BackendError>(flat(2, "faults=(0.5s/gpu/1)"), 2, compute(1.0)),
              AllOf(HasSubstr("rank 1"), HasSubstr("0.5 s")));
}

TEST(Faults, AfterTheEndChangeNothing) {
  EXPECT_EQ(failure<BackendError>(flat(2, "faults=(100s/gpu/1)"), 2, compute(1.0)), "");
}

}  // namespace
}  // namespace trigram::testing::events_test
