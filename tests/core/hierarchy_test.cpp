// Where a rank stands in its nodes, and what a hierarchy costs and computes.
#include "core/lane/hierarchy.hpp"

#include <gtest/gtest.h>

#include "core/lane/worker.hpp"
#include "core/primitives/centralized.hpp"
#include "core/values/error.hpp"
#include "tests/support/run_ranks.hpp"

namespace trigram {
namespace {

TEST(Placement, CountsNodesAndLocalRanksOfUnequalNodes) {
  const std::vector<int> nodes{0, 0, 0, 1, 1, 2};
  const Placement place = placement(nodes, 4);
  EXPECT_EQ(place.ranks, 6);
  EXPECT_EQ(place.node, 1);
  EXPECT_EQ(place.nodes, 3);
  EXPECT_EQ(place.local_rank, 1);
  EXPECT_EQ(place.node_size, 2);
  EXPECT_EQ(vertices(Hierarchy::none, place), 6);
  EXPECT_EQ(vertices(Hierarchy::leader, place), 3);
}

TEST(Hierarchy, NamesAreReadBack) {
  for (const Hierarchy one : {Hierarchy::none, Hierarchy::leader, Hierarchy::all_nics})
    EXPECT_EQ(parse_hierarchy(name_of(one)), one);
  EXPECT_THROW(parse_hierarchy("leaders"), UsageError);
}

TEST(HierarchicalCost, AddsTheNodesPartToThePrimitives) {
  const auto primitive = [](int ranks, int rank, std::int64_t count) { return Cost{100 * ranks + rank, 1000 * count}; };
  const std::vector<int> nodes{0, 0, 1, 1};
  // Flat: the primitive alone.
  EXPECT_EQ(hierarchical_cost(Hierarchy::none, placement(nodes, 3), 7, 4, primitive), (Cost{403, 7000}));
  // Leader: a binomial reduce of two ranks and a broadcast back, 28 bytes each way.
  EXPECT_EQ(hierarchical_cost(Hierarchy::leader, placement(nodes, 3), 7, 4, primitive), (Cost{2, 28}));
  EXPECT_EQ(hierarchical_cost(Hierarchy::leader, placement(nodes, 2), 7, 4, primitive), (Cost{2 + 201, 28 + 7000}));
  // All NICs: chunks of 4 and 3 elements; both ranks send the other's chunk first and their own after.
  EXPECT_EQ(hierarchical_cost(Hierarchy::all_nics, placement(nodes, 2), 7, 4, primitive), (Cost{2 + 201, 28 + 4000}));
  EXPECT_EQ(hierarchical_cost(Hierarchy::all_nics, placement(nodes, 3), 7, 4, primitive), (Cost{2 + 201, 28 + 3000}));
}

/// x = rank + 1 on each rank, then the hierarchy around "mean over the group".
std::vector<std::vector<float>> mean_in(Hierarchy hierarchy, NodeValue value, int ranks, int ranks_per_node) {
  World world;
  world.ranks = ranks;
  Relaxation relaxation;
  relaxation.hierarchy = hierarchy;
  return run_ranks<float>("threads:ranks_per_node=" + std::to_string(ranks_per_node), world, [&](RankRuntime& runtime) {
    Worker worker(runtime, 0, relaxation);
    const OwnedBuffer x = on_device<float>(worker.device, std::vector<float>(5, static_cast<float>(worker.rank() + 1)));
    hierarchical(worker, x, value, [](Communicator& group, Buffer part) { group.all_reduce(part, ReduceOp::mean); });
    return on_host<float>(worker.device, x);
  });
}

/// x = rank + element on each rank, then the mean over ranks by chunks; behind it the rank's rounds and bytes.
std::vector<std::vector<float>> mean_by_chunks(const std::string& backend, Hierarchy hierarchy, int ranks, int chunks) {
  World world;
  world.ranks = ranks;
  world.hierarchy_chunks = chunks;
  Relaxation relaxation;
  relaxation.hierarchy = hierarchy;
  return run_ranks<float>(backend, world, [&](RankRuntime& runtime) {
    Worker worker(runtime, 0, relaxation);
    std::vector<float> values;
    for (int i = 0; i < 7; ++i) values.push_back(static_cast<float>(worker.rank() + 10 * i));
    const OwnedBuffer x = on_device<float>(worker.device, values);
    centralized_full_precision(worker, x);
    values = on_host<float>(worker.device, x);
    Cost sent;
    for (int lane = 0; lane < runtime.lanes(); ++lane) sent += runtime.lane(lane).meter.total();
    values.push_back(static_cast<float>(sent.rounds));
    values.push_back(static_cast<float>(sent.bytes));
    return values;
  });
}

/// Threads are told of other nodes.
std::string in_nodes_of_three(const std::string& place) {
  if (place.starts_with("threads")) return "threads:ranks_per_node=3";
  return place + (place.find(':') == std::string::npos ? ":" : ",") + "ranks_per_node=3";
}

// Also in more chunks than there are elements, and on nodes of three and two ranks.
TEST(HierarchicalByChunks, IsTheMeanAtItsDeclaredCost) {
  for (const std::string& place : tested_backends()) {
    for (const int ranks : {5, 6}) {
      for (const Hierarchy hierarchy : {Hierarchy::leader, Hierarchy::all_nics}) {
        if (hierarchy == Hierarchy::all_nics && ranks == 5) continue;
        for (const int chunks : {2, 3, 9}) {
          const std::string backend = in_nodes_of_three(place);
          const auto all = mean_by_chunks(backend, hierarchy, ranks, chunks);
          for (int rank = 0; rank < ranks; ++rank) {
            const std::vector<float>& found = all[static_cast<std::size_t>(rank)];
            for (std::size_t i = 0; i < 7; ++i)
              EXPECT_FLOAT_EQ(found[i], static_cast<float>(ranks - 1) / 2 + static_cast<float>(10 * i)) << backend;
            CostQuery query;
            query.place = placement({0, 0, 0, 1, 1, 1}, rank);
            if (ranks == 5) query.place = placement({0, 0, 0, 1, 1}, rank);
            query.hierarchy = hierarchy;
            query.hierarchy_chunks = chunks;
            const Cost cost = centralized_full_precision_cost(query, Shape::of(7, DType::f32));
            EXPECT_EQ(found[7], static_cast<float>(cost.rounds))
                << backend << ", " << chunks << " chunks, rank " << rank;
            EXPECT_EQ(found[8], static_cast<float>(cost.bytes))
                << backend << ", " << chunks << " chunks, rank " << rank;
          }
        }
      }
    }
  }
}

TEST(Hierarchical, WeightedMeanIsTheMeanOverRanksOnUnequalNodesToo) {
  // Ranks 1 … 5 in nodes of 2, 2 and 1: the mean is 3, while node means 1.5, 3.5 and 5 would give 10/3.
  for (const auto& rank : mean_in(Hierarchy::leader, NodeValue::weighted_mean, 5, 2)) {
    for (const float value : rank) EXPECT_NEAR(value, 3.0F, 1e-6F);
  }
  for (const auto& rank : mean_in(Hierarchy::leader, NodeValue::mean, 5, 2)) {
    for (const float value : rank) EXPECT_NEAR(value, 10.0F / 3, 1e-6F);
  }
}

TEST(Hierarchical, AllNicsGivesEveryRankEveryChunk) {
  for (const auto& rank : mean_in(Hierarchy::all_nics, NodeValue::weighted_mean, 8, 4))
    EXPECT_EQ(rank, std::vector<float>(5, 4.5F));
}

}  // namespace
}  // namespace trigram
