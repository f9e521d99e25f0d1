// Phases of a hierarchy on several lanes: what a node does for one bucket runs beside what the network does for
// another; and the same of chunks of one bucket.
#include <algorithm>

#include "core/primitives/centralized.hpp"
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

/// A mean of one bucket in a hierarchy by chunks, without latencies.
double seconds_by_chunks(const std::string& fidelity, Hierarchy hierarchy, double network_rate, int chunks) {
  World world;
  world.ranks = 8;
  world.hierarchy_chunks = chunks;
  const std::string cluster =
      "sim:nodes=2,gpus_per_node=4,node_bandwidth=4GB/s,nic_latency=1ns,node_latency=1ns,nic_bandwidth=" +
      std::to_string(network_rate) + "B/s,fidelity=" + fidelity;
  return durations(cluster, world, {[hierarchy](RankRuntime& runtime) {
                     Worker worker(runtime, 0, {.hierarchy = hierarchy});
                     centralized_full_precision(worker, phantom(bytes));
                   }})
      .front();
}

/// Of k chunks that take u up, p between nodes and d down.
double by_chunks(int k, double u, double p, double d) {
  if (k == 1) return u + p + d;
  return p >= u + d ? u + k * p + d : (k - 1) * (u + d) + std::max(u, p) + std::max(d, p);
}

// Networks that are slower than the node's two phases, between them and one of them, and faster.
TEST(HierarchyByChunks, LastsAsLongAsTheSlowerOfNodeAndNetworkAndOneFill) {
  for (const double rate : {1e9, 6e9, 60e9}) {
    for (const int chunks : {1, 2, 8}) {
      // Trees of two rounds in a node, a ring of two between.
      const double tree = 2.0 * bytes / chunks / 4e9, leaders = bytes / (rate * chunks);
      const double ring = 0.75 * bytes / chunks / 4e9;
      const double of_leaders = by_chunks(chunks, tree, leaders, tree);
      const double of_nics = by_chunks(chunks, ring, leaders, ring);
      for (const char* fidelity : {"exact", "fluid"}) {
        const std::string what =
            std::string(fidelity) + ", " + std::to_string(chunks) + " chunks at " + std::to_string(rate);
        expect_relative(seconds_by_chunks(fidelity, Hierarchy::leader, rate, chunks), of_leaders, 0.01,
                        "leader, " + what);
        expect_relative(seconds_by_chunks(fidelity, Hierarchy::all_nics, rate, chunks), of_nics, 0.01,
                        "all_nics, " + what);
      }
    }
  }
}

}  // namespace
}  // namespace trigram::testing::overlapping_hierarchy_test
