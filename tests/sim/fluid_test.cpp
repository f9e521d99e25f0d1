// fluid against exact: time within the stated bounds, numbers to the bit.
#include <nlohmann/json.hpp>

#include "backends/sim/communicator/parts.hpp"
#include "core/values/random.hpp"
#include "tests/sim/rig.hpp"

namespace trigram::testing {
namespace {

Operation reduce_scatter_then_gather(std::int64_t bytes) {
  return [bytes](RankRuntime& runtime) {
    runtime.lane(0).comm->reduce_scatter(phantom(bytes), ReduceOp::sum);
    runtime.lane(0).comm->all_gather(phantom(bytes));
  };
}

void expect_fluid_near_exact(const std::string& cluster, int ranks, const Operation& operation, double tolerance) {
  const double exact = duration(cluster + ",fidelity=exact", ranks, operation);
  expect_relative(duration(cluster + ",fidelity=fluid", ranks, operation), exact, tolerance, cluster);
}

/// Enough of them that latencies of a microsecond are seen.
void hundred_barriers(RankRuntime& runtime) {
  for (int i = 0; i < 100; ++i) runtime.lane(0).comm->barrier();
}

const char* const nodes_of_eight = "sim:nodes=4,gpus_per_node=8,nic_bandwidth=25Gbps,nic_latency=20us";

TEST(Fluid, IsExactOnHomogeneousLinks) {
  for (const int ranks : {2, 16, 50}) {
    expect_fluid_near_exact(flat(ranks), ranks, all_reduce_of(100'000'000), 1e-3);
    expect_fluid_near_exact(flat(ranks), ranks, reduce_scatter_then_gather(10'000'000), 1e-3);
    expect_fluid_near_exact(flat(ranks), ranks, all_to_all_of(1'000'000), 1e-3);
  }
  expect_fluid_near_exact(nodes_of_eight, 32, all_reduce_of(100'000'000), 1e-3);
  expect_fluid_near_exact(nodes_of_eight, 32, all_to_all_of(1'000'000), 1e-3);
}

/// Else each rank of a large cluster has a flow to each node.
TEST(Fluid, ChunksOfAnyVectorAreNearlyEqual) {
  const auto nearly_equal_chunks = [](std::int64_t count, DType dtype, int parts) {
    sim::PartSizes sizes;
    for (int part = 0; part < parts; ++part) {
      const Buffer chunk = Buffer(nullptr, Shape{0, dtype, count, true}).chunk(part, parts);
      sizes.add(std::span(&chunk, 1));
    }
    return sizes.nearly_equal();
  };
  for (const DType dtype : {DType::u8, DType::f32}) {
    for (const std::int64_t count : {1000, 64 * 4096 - 1, 64 * 4096 + 1, 2'621'440 + 63})
      EXPECT_TRUE(nearly_equal_chunks(count, dtype, 64)) << count;
  }
}

TEST(Fluid, IsExactOnUnequalLinks) {
  const std::string unequal = "changes=(0s/nic_bandwidth/3/25Gbps 0s/nic_bandwidth/7/60Gbps 0s/nic_latency/5/20us)";
  expect_fluid_near_exact(flat(16, unequal), 16, all_reduce_of(100'000'000), 1e-3);
  expect_fluid_near_exact(flat(16, unequal), 16, reduce_scatter_then_gather(50'000'000), 1e-3);
  expect_fluid_near_exact(flat(16, unequal), 16, all_to_all_of(4'000'000), 1e-3);
}

TEST(Fluid, IsNearUnderBackgroundTraffic) {
  for (const char* traffic : {"background=(0>1)", "background=(0>1 3>4/20Gbps 6>2)"}) {
    expect_fluid_near_exact(flat(16, traffic), 16, all_reduce_of(100'000'000), 0.02);
  }
}

TEST(Fluid, BarriersTakeTheLatenciesOfTheirRounds) {
  for (const int ranks : {2, 16, 50}) expect_fluid_near_exact(flat(ranks), ranks, hundred_barriers, 1e-3);
  expect_fluid_near_exact(nodes_of_eight, 32, hundred_barriers, 1e-3);
  expect_fluid_near_exact(flat(16, "changes=(0s/nic_latency/5/20us)"), 16, hundred_barriers, 1e-3);
}

TEST(Fluid, WaitsForAStragglerAsExactDoes) {
  const auto late = [](RankRuntime& runtime) {
    if (runtime.lane(0).comm->rank() == 5) runtime.lane(0).device->charge_seconds(5e-3);
    all_reduce_of(100'000'000)(runtime);
  };
  expect_fluid_near_exact(flat(16), 16, late, 1e-3);
}

// α + (bytes through one NIC)·β: 8 ranks × 24 others × m
TEST(Fluid, AllToAllOfNodesIsBoundByTheirNics) {
  const double expected = 20e-6 + 8 * 24 * 1e6 / 3.125e9;
  expect_relative(duration(std::string(nodes_of_eight) + ",fidelity=fluid", 32, all_to_all_of(1'000'000)), expected,
                  2e-4);
}

TEST(Fluid, HandlesUnequalNodes) {
  expect_fluid_near_exact("sim:nodes=3,gpus_per_node=3 8 8", 19, all_to_all_of(1'000'000), 1e-3);
  expect_fluid_near_exact("sim:nodes=3,gpus_per_node=1 1 2", 4, all_to_all_of(1'000'000), 1e-3);
}

TEST(Fluid, SaysWhatRanFluidAndWhatExact) {
  const auto both = [](RankRuntime& runtime) {
    all_reduce_of(4000)(runtime);
    runtime.lane(0).comm->broadcast(phantom(4000), 0);
  };
  const auto facts = nlohmann::json::parse(simulate(flat(4, "fidelity=fluid"), 4, both).facts);
  EXPECT_EQ(facts.at("fluid_collectives"), nlohmann::json({"all_reduce"}));
  EXPECT_EQ(facts.at("exact_collectives"), nlohmann::json({"broadcast"}));
}

/// Bytes of f32 that nodes of 2, 4, 6, 7 and 8 ranks, three such nodes, and the nodes' chunks among three cut into
/// chunks of equal sizes.
constexpr std::int64_t equal_chunks(std::int64_t times) { return 4 * chunk_grain * 504 * times; }

/// In all nodes at once, with roots other than the first.
void each_in_nodes(RankRuntime& runtime) {
  Communicator& node = *runtime.lane(0).node;
  node.broadcast(phantom(8'400'000), 1);
  node.reduce(phantom(16'800'000), ReduceOp::sum, node.size() - 1);
  node.reduce_scatter(phantom(equal_chunks(65)), ReduceOp::sum);
  node.all_gather(phantom(equal_chunks(130)));
  const std::vector<Buffer> parts(static_cast<std::size_t>(node.size()), phantom(4'000'000));
  node.all_gather(parts);
  node.all_to_all(parts, parts);
}

/// As hierarchies do: reduce in the node, all-reduce between first ranks or between all of a place, broadcast.
void by_leader(RankRuntime& runtime) {
  Lane& lane = runtime.lane(0);
  lane.node->reduce(phantom(30'240'000), ReduceOp::sum, 0);
  if (lane.node->rank() == 0) lane.leaders->all_reduce(phantom(equal_chunks(234)), ReduceOp::sum);
  lane.node->broadcast(phantom(30'240'000), 0);
}
void by_all(RankRuntime& runtime) {
  Lane& lane = runtime.lane(0);
  lane.node->reduce_scatter(phantom(equal_chunks(234)), ReduceOp::sum);
  lane.leaders->all_reduce(phantom(equal_chunks(234) / lane.node->size()), ReduceOp::sum);
  lane.node->all_gather(phantom(equal_chunks(234)));
}

constexpr double rounding = 1e-9;

TEST(Fluid, IsExactToRoundingOnAlikeNodes) {
  for (const int in_node : {2, 4, 6, 7, 8}) {
    for (const char* nic : {"node", "gpu"}) {
      const std::string cluster =
          "sim:nodes=3,nic_bandwidth=25Gbps,nic_latency=20us,gpus_per_node=" + std::to_string(in_node) + ",nic=" + nic;
      for (const Operation& operation : {Operation(each_in_nodes), Operation(by_leader), Operation(by_all),
                                         all_reduce_of(equal_chunks(234)), all_to_all_of(400'000)})
        expect_fluid_near_exact(cluster, 3 * in_node, operation, rounding);
    }
  }
}

/// Beside a broadcast on another lane.
Operation beside_a_broadcast(const Operation& operation) {
  return [operation](RankRuntime& runtime) {
    Pending other = runtime.launch(1, [&] { runtime.lane(1).node->broadcast(phantom(50'000'000), 0); });
    operation(runtime);
    other.wait();
  };
}

void broadcast_in_nodes(RankRuntime& runtime) { runtime.lane(0).node->broadcast(phantom(20'000'000), 0); }

TEST(Fluid, LanesShareTheLinksOfNodes) {
  expect_fluid_near_exact(nodes_of_eight, 32, beside_a_broadcast(broadcast_in_nodes), 0.01);
  expect_fluid_near_exact(nodes_of_eight, 32, beside_a_broadcast(by_leader), 0.04);
  expect_fluid_near_exact(nodes_of_eight, 32, beside_a_broadcast(all_to_all_of(1'000'000)), 0.02);
}

TEST(Fluid, EndsWithARankThatFailsWhileFlowsAreUnderWay) {
  const auto fail_meanwhile = [](RankRuntime& runtime) {
    Pending broadcast = runtime.launch(1, [&] { runtime.lane(1).node->broadcast(phantom(400'000'000), 0); });
    Pending everywhere =
        runtime.launch(2, [&] { runtime.lane(2).comm->all_reduce(phantom(400'000'000), ReduceOp::sum); });
    runtime.lane(0).device->charge_seconds(1e-3);
    if (runtime.lane(0).comm->rank() == 3) throw Error("rank 3 has had enough");
    broadcast.wait();
    everywhere.wait();
  };
  EXPECT_EQ(failure<Error>(std::string(nodes_of_eight) + ",fidelity=fluid", 32, fail_meanwhile),
            "rank 3 has had enough");
}

nlohmann::json facts_of(const std::string& cluster, int ranks, const Operation& operation) {
  return nlohmann::json::parse(simulate(cluster, ranks, operation).facts);
}

TEST(Fluid, CountsWhatCrossesNicsAsExactDoes) {
  for (const Operation& operation : {Operation(by_leader), Operation(by_all), all_to_all_of(400'000)}) {
    const std::string cluster = nodes_of_eight;
    EXPECT_EQ(facts_of(cluster + ",fidelity=fluid", 32, operation).at("busiest_nic"),
              facts_of(cluster + ",fidelity=exact", 32, operation).at("busiest_nic"));
  }
}

TEST(Fluid, SendsEachMessageOfATreeWhereLinksAreUnlike) {
  const std::string unlike = std::string(nodes_of_eight) + ",changes=(0s/node_bandwidth/3/10GB/s),fidelity=fluid";
  EXPECT_EQ(facts_of(unlike, 32, by_leader).at("exact_collectives"), nlohmann::json({"broadcast", "reduce"}));
  EXPECT_EQ(facts_of(std::string(nodes_of_eight) + ",fidelity=fluid", 32, by_leader).at("exact_collectives"),
            nlohmann::json::array());
}

std::vector<float> drawn(int rank, std::int64_t count) {
  std::vector<float> values;
  const Philox philox(Key{.seed = 3, .rank = rank});
  for (std::int64_t i = 0; i < count; ++i) values.push_back(philox.uniform(static_cast<std::uint64_t>(i)) - 0.5F);
  return values;
}

std::vector<std::vector<float>> trees_in_nodes(const std::string& fidelity, int in_node) {
  const std::string cluster = "sim:nodes=2,gpus_per_node=" + std::to_string(in_node) + ",fidelity=" + fidelity;
  return run_ranks<float>(cluster, 2 * in_node, [](RankRuntime& runtime) {
    Communicator& node = *runtime.lane(0).node;
    std::vector<float> all;
    for (int root = 0; root < node.size(); ++root) {
      const OwnedBuffer x = on_device(node.device(), drawn(runtime.lane(0).comm->rank(), 103));
      node.reduce(x, ReduceOp::mean, root);
      node.broadcast(x, root);
      const std::vector<float> result = on_host<float>(node.device(), x);
      all.insert(all.end(), result.begin(), result.end());
    }
    return all;
  });
}

TEST(Fluid, TreesAddInTheSameOrderAsExact) {
  for (const int in_node : {2, 3, 7, 8}) EXPECT_EQ(trees_in_nodes("fluid", in_node), trees_in_nodes("exact", in_node));
}

std::vector<std::vector<float>> sums(const std::string& fidelity, int ranks) {
  return run_ranks<float>(flat(ranks, "fidelity=" + fidelity), ranks, [](RankRuntime& runtime) {
    Communicator& comm = *runtime.lane(0).comm;
    std::vector<float> all;
    for (const std::int64_t count : {1, 5, 1003}) {
      const OwnedBuffer x = on_device(comm.device(), drawn(comm.rank(), count));
      comm.all_reduce(x, ReduceOp::mean);
      const std::vector<float> result = on_host<float>(comm.device(), x);
      all.insert(all.end(), result.begin(), result.end());
    }
    return all;
  });
}

TEST(Fluid, AddsInTheSameOrderAsExact) {
  for (const int ranks : {2, 3, 7, 16}) {
    const auto exact = sums("exact", ranks);
    EXPECT_NE(exact.front(), std::vector<float>(exact.front().size(), 0.0F));
    EXPECT_EQ(sums("fluid", ranks), exact);
  }
}

}  // namespace
}  // namespace trigram::testing
