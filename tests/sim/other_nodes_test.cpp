// What leaves a node is told from what stays inside, at either fidelity alike, and as closed forms say.
#include "core/lane/all_reduce.hpp"
#include "tests/sim/rig.hpp"

namespace trigram::testing::other_nodes_test {
namespace {

using Bytes = std::vector<std::int64_t>;
constexpr int nodes = 3, in_node = 4, ranks = nodes * in_node;
constexpr std::int64_t elements = 12 * 4096;  // chunks of ranks and of nodes are alike

std::string cluster(const std::string& fidelity, const std::string& more = "") {
  return "sim:nodes=3,gpus_per_node=4" + more + ",fidelity=" + fidelity;
}

/// By rank, of what `operation` sends on an f32 vector: all bytes, then those to other nodes.
using OnVector = std::function<void(Lane&, Buffer)>;
std::vector<Bytes> counted(const std::string& backend, const OnVector& operation,
                           const std::string& all_reduce = "ring") {
  World world;
  world.ranks = ranks;
  world.all_reduce = all_reduce;
  return run_ranks<std::int64_t>(backend, world, [&](RankRuntime& runtime) {
    Lane& lane = runtime.lane(0);
    operation(lane, Buffer(nullptr, Shape{elements, DType::f32, elements, true}));
    return Bytes{lane.meter.total().bytes, lane.meter.to_other_nodes()};
  });
}

/// Those to other nodes, by rank.
Bytes leaving(const std::vector<Bytes>& counted) {
  Bytes all;
  for (const Bytes& one : counted) all.push_back(one[1]);
  return all;
}

OnVector all_to_all(std::int64_t bytes) {
  return [bytes](Lane& lane, Buffer) {
    const std::vector<Buffer> parts(ranks, phantom(bytes));
    lane.comm->all_to_all(parts, parts);
  };
}

TEST(OtherNodes, FlowsCountWhatMessagesDo) {
  for (const std::string& name : AllReduces::names()) {
    const OnVector all_reduce = [](Lane& lane, Buffer x) { lane.comm->all_reduce(x, ReduceOp::sum); };
    EXPECT_EQ(counted(cluster("fluid"), all_reduce, name), counted(cluster("exact"), all_reduce, name)) << name;
  }
  const OnVector operations[] = {
      [](Lane& lane, Buffer x) { lane.comm->reduce_scatter(x, ReduceOp::sum); },
      [](Lane& lane, Buffer x) { lane.comm->all_gather(x); },
      [](Lane& lane, Buffer x) { lane.comm->broadcast(x, 2); },
      [](Lane& lane, Buffer x) { lane.comm->reduce(x, ReduceOp::sum, 2); },
      [](Lane& lane, Buffer x) { lane.node->broadcast(x, 1); },
      [](Lane& lane, Buffer x) { lane.node->reduce(x, ReduceOp::sum, 1); },
      [](Lane& lane, Buffer x) { lane.leaders->all_reduce(x, ReduceOp::sum); },
      all_to_all(400'000),
  };
  for (const OnVector& operation : operations)
    EXPECT_EQ(counted(cluster("fluid"), operation), counted(cluster("exact"), operation));
}

// A ring crosses the border of each node once: its last rank sends all that it sends, 2(N−1)/N of the vector.
TEST(OtherNodes, ARingLeavesANodeAtItsLastRank) {
  const Bytes all =
      leaving(counted(cluster("fluid"), [](Lane& lane, Buffer x) { lane.comm->all_reduce(x, ReduceOp::sum); }));
  for (int rank = 0; rank < ranks; ++rank)
    EXPECT_EQ(all[static_cast<std::size_t>(rank)],
              rank % in_node == in_node - 1 ? 2 * (ranks - 1) * elements * 4 / ranks : 0)
        << rank;
}

// As many rings as a node has NICs: each rank sends its ring's share, 2(N−1)/N of it, from its NIC.
TEST(OtherNodes, RailsLeaveANodeAtEveryRank) {
  const auto all = counted(
      cluster("fluid", ",nic=gpu"), [](Lane& lane, Buffer x) { lane.comm->all_reduce(x, ReduceOp::sum); },
      "multi_rail_ring");
  for (const Bytes& one : all) EXPECT_EQ(one[1], 2 * (ranks - 1) * elements * 4 / ranks / in_node);
}

TEST(OtherNodes, EachGetsItsPartOfAnAllToAll) {
  for (const char* fidelity : {"fluid", "exact"}) {
    for (const Bytes& one : counted(cluster(fidelity), all_to_all(1000)))
      EXPECT_EQ(one, (Bytes{(ranks - 1) * 1000, (ranks - in_node) * 1000}));
  }
}

// A group that was split off has ranks of several nodes too: here the even ranks, two a node.
TEST(OtherNodes, AreKnownInAGroupThatWasSplitOff) {
  const auto all = counted(cluster("exact"), [](Lane& lane, Buffer) {
    const auto even = lane.comm->split(lane.comm->rank() % 2, lane.comm->rank());
    const Buffer x = phantom(600);
    const int next = (even->rank() + 1) % even->size(), previous = (even->rank() + 5) % even->size();
    even->exchange({Transfer::send_to(next, x), Transfer::receive_from(previous, x)});
  });
  for (int rank = 0; rank < ranks; ++rank) {
    const bool last_of_node = rank % in_node >= 2;
    EXPECT_EQ(all[static_cast<std::size_t>(rank)], (Bytes{600, last_of_node ? 600 : 0})) << rank;
  }
}

}  // namespace
}  // namespace trigram::testing::other_nodes_test
