// Links and hosts that stop and go on: nothing is lost but the time.
#include <gmock/gmock.h>

#include "tests/sim/rig.hpp"

namespace trigram::testing::outages_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr double kernel = 1e-3;

/// What a kernel of 1 ms takes on rank 0.
double kernel_with(const std::string& events) { return duration(flat(2, events), 2, idle_for(kernel)); }

TEST(Outages, OfAGpuStopItsKernel) {
  expect_relative(kernel_with("outages=(3ms/gpu/0@0.5ms)"), 4e-3, 1e-6);
  expect_relative(kernel_with("outages=(3ms/gpu/0@2ms)"), 1e-3, 1e-6);
  expect_relative(kernel_with("outages=(0s/gpu/0@0.5ms)"), 1e-3, 1e-6);
}

TEST(Outages, GiveBackTheSpeedThatAPartWouldHave) {
  expect_relative(kernel_with("slow=0:2,outages=(3ms/gpu/0@0.5ms)"), 5e-3, 1e-6);
  // Half of the kernel is left when it goes on at half speed.
  expect_relative(kernel_with("changes=(1ms/slow/0/2),outages=(2ms/gpu/0@0.5ms)"), 3.5e-3, 1e-6);
  // The change comes before the outage, at 0.2 ms: 0.2 + 0.3 / 2 of the kernel is done when it stops.
  expect_relative(kernel_with("changes=(0.2ms/slow/0/2),outages=(2ms/gpu/0@0.5ms)"), 2.5e-3 + 2 * 0.65e-3, 1e-6);
}

TEST(Outages, ThatMeetEndWithTheLastOfThem) {
  expect_relative(kernel_with("outages=(2ms/gpu/0@0.5ms 2ms/gpu/0@1ms)"), 3.5e-3, 1e-6);
  expect_relative(kernel_with("outages=(2ms/gpu/0@1ms 2ms/gpu/0@0.5ms)"), 3.5e-3, 1e-6);
}

// 125 MB at 12.5 GB/s are 10 ms.
TEST(Outages, OfANicStopItsMessages) {
  for (const char* node : {"0", "1"}) {
    const std::string backend = flat(2, "outages=(20ms/nic/" + std::string(node) + "@5ms)");
    expect_relative(duration(backend, 2, last_to_first_of(125'000'000)), alpha + 30e-3, 1e-6, node);
    expect_relative(duration(backend, 2, idle_for(kernel)), kernel, 1e-9, node);
  }
}

TEST(Outages, OfANicStopACollectiveInBothFidelities) {
  for (const char* fidelity : {"exact", "fluid"}) {
    const std::string of = ",fidelity=" + std::string(fidelity);
    const double alone = duration(flat(4, "timeout=10s" + of), 4, all_reduce_of(100'000'000));
    const double stopped = duration(flat(4, "outages=(20ms/nic/2@5ms)" + of), 4, all_reduce_of(100'000'000));
    expect_relative(stopped, alone + 20e-3, 1e-2, fidelity);
  }
}

TEST(Outages, OfANodeStopItsNicAndItsGpus) {
  const std::string cluster =
      "sim:nodes=2,gpus_per_node=2,nic_bandwidth=100Gbps,nic_latency=5us,outages=(3ms/node/1@0.5ms)";
  expect_relative(duration(cluster, 2, idle_for(kernel)), kernel, 1e-6, "ranks of the other node");
  for (const int ranks : {3, 4}) expect_relative(duration(cluster, ranks, idle_for(kernel)), 4e-3, 1e-6);
  expect_relative(duration(cluster, 4, last_to_first_of(12'500'000)), alpha + 4e-3, 1e-6);
}

TEST(Outages, LongerThanTheTimeoutEndTheRun) {
  const std::string patient =
      failure<BackendError>(flat(4, "outages=(20s/nic/2@5ms),timeout=30s"), 4, all_reduce_of(100'000'000));
  EXPECT_EQ(patient, "");
  const std::string text =
      failure<BackendError>(flat(4, "outages=(20s/nic/2@5ms),timeout=10s"), 4, all_reduce_of(100'000'000));
  EXPECT_THAT(text, AllOf(HasSubstr("cluster.timeout is 10 s"), HasSubstr("rank 2")));
}

TEST(Outages, AreRefusedWhereTheyMeanNothing) {
  const auto refusal = [](const std::string& events) {
    return failure<UsageError>("sim:" + events, 8, idle_for(kernel));
  };
  EXPECT_THAT(refusal("outages=1s/nic/0"),
              HasSubstr("'1s/nic/0' is malformed; write length/part/target@time, as 20s/nic/2@60s"));
  EXPECT_THAT(refusal("outages=1s/switch/0@1s"), HasSubstr("'switch' is none of nic, gpu, node"));
  EXPECT_THAT(refusal("outages=1s/gpu/8@1s"), HasSubstr("'outages' names rank 8; the cluster has 8"));
  EXPECT_THAT(refusal("outages=1s/nic/2@1s"), HasSubstr("'outages' names node 2; the cluster has 2"));
  EXPECT_THAT(refusal("nic_burst=1MB,nic_line_rate=50Gbps,outages=1s/nic/0@1s"), HasSubstr("outages of a NIC"));
}

}  // namespace
}  // namespace trigram::testing::outages_test
