// Phases of a hierarchy on several lanes: what a node does for one bucket runs beside what the network does for
// another.
#include "tests/sim/rig.hpp"

namespace trigram::testing::overlapping_hierarchy_test {
namespace {

constexpr int buckets = 12;
constexpr std::int64_t bytes = 64'000'000;
constexpr double node_phase = 0.75 * bytes / 4e9;  ///< seconds of a reduce-scatter or all-gather of four
constexpr double network_phase = 4 * (2 * 0.5 * bytes / 4 / 2e9);  ///< four rings of two over one NIC

void all_nics(Lane& lane) {
  const Buffer x = phantom(bytes);
  lane.node->reduce_scatter(x, ReduceOp::sum);
  lane.leaders->all_reduce(x.chunk(lane.node->rank(), 4), ReduceOp::sum);
  lane.node->all_gather(x);
}

/// Buckets take lanes in turn, one every 12 ms, as backward brings them.
double seconds(const std::string& fidelity, int lanes) {
  World world;
  world.ranks = 8;
  world.bucket_lanes = lanes;
  const std::string cluster =
      "sim:nodes=2,gpus_per_node=4,nic_bandwidth=2GB/s,node_bandwidth=4GB/s,nic_latency=5us,node_latency=1us,fidelity=";
  const auto all = [](RankRuntime& runtime) {
    std::vector<Pending> pending;
    for (int bucket = 0; bucket < buckets; ++bucket) {
      runtime.lane(0).device->charge_seconds(node_phase);
      const int index = runtime.layout().of_bucket(bucket);
      pending.push_back(runtime.launch(index, [&runtime, index] { all_nics(runtime.lane(index)); }));
    }
    for (Pending& one : pending) one.wait();
  };
  return durations(cluster + fidelity, world, {all}).front();
}

// The sum of phases on one lane, the longer of node and network on several, but for the first and the last bucket.
TEST(OverlappingHierarchy, LastsAsLongAsItsSlowerHalf) {
  static_assert(network_phase > 2 * node_phase);
  for (const char* fidelity : {"exact", "fluid"}) {
    expect_relative(seconds(fidelity, 1), buckets * (2 * node_phase + network_phase) + node_phase, 0.01, fidelity);
    const double most = buckets * network_phase + 4 * node_phase;
    const double overlapped = seconds(fidelity, 3);
    EXPECT_LT(overlapped, most) << fidelity;
    EXPECT_GT(overlapped, buckets * network_phase) << fidelity;
  }
}

}  // namespace
}  // namespace trigram::testing::overlapping_hierarchy_test
