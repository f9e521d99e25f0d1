// NCCL's tuning model against what another implementation of it printed, and against who was published to win.
#include "core/collectives/nccl_model.hpp"

#include <gtest/gtest.h>

#include "core/values/error.hpp"
#include "tests/support/run_ranks.hpp"

namespace trigram::testing::nccl_model_test {
namespace {

using enum NcclAlgorithm;
using enum NcclProtocol;

/// So many nodes of one GPU behind a NIC of so many Gb/s.
NcclModel flat(int nodes, double gbps) {
  return {{.node_bandwidth = 16e9, .nic_bandwidth = gbps / 8 * 1e9}, nodes, nodes};
}

// Whole microseconds of latency: 8 and 16 nodes of one GPU, as the model gave them elsewhere.
TEST(NcclModel, HasTheLatenciesOfItsSource) {
  const auto microseconds = [](int nodes, NcclChoice choice) { return flat(nodes, 10).seconds(choice, 0) * 1e6; };
  for (const auto& [nodes, ring_simple, tree_simple, ring_ll, tree_ll] :
       {std::tuple{8, 204, 92, 77, 37}, {16, 428, 120, 157, 47}}) {
    EXPECT_NEAR(microseconds(nodes, {ring, simple}), ring_simple, 0.5);
    EXPECT_NEAR(microseconds(nodes, {tree, simple}), tree_simple, 0.5);
    EXPECT_NEAR(microseconds(nodes, {ring, ll}), ring_ll, 0.5);
    EXPECT_NEAR(microseconds(nodes, {tree, ll}), tree_ll, 0.5);
  }
}

TEST(NcclModel, HasTheTimesOfItsSource) {
  const auto milliseconds = [](double gbps, NcclChoice choice, std::int64_t mebibytes) {
    return flat(8, gbps).seconds(choice, mebibytes << 20) * 1e3;
  };
  EXPECT_NEAR(milliseconds(10, {ring, simple}, 1), 1.8, 0.05);
  EXPECT_NEAR(milliseconds(25, {ring, simple}, 1), 0.90, 0.005);
  EXPECT_NEAR(milliseconds(100, {ring, ll}, 1), 0.38, 0.005);
  EXPECT_NEAR(milliseconds(10, {ring, simple}, 128), 196, 0.5);
  EXPECT_NEAR(milliseconds(25, {ring, simple}, 128), 78.6, 0.05);
  EXPECT_NEAR(milliseconds(100, {ring, simple}, 128), 19.9, 0.05);
}

/// The first power of two from which on another one is chosen than for the size before.
std::vector<std::pair<NcclChoice, std::int64_t>> changes(const NcclModel& model) {
  std::vector<std::pair<NcclChoice, std::int64_t>> all;
  for (std::int64_t bytes = 64; bytes <= std::int64_t{1} << 34; bytes *= 2) {
    const NcclChoice now = model.choose(bytes);
    if (all.empty() || all.back().first != now) all.emplace_back(now, bytes);
  }
  return all;
}

// 6.6 + 14·0.6 + M/50.1 and 14 + 14·1.9 + M/126, M in kB: they cross at 2.1 MB; LL128 and 8.4 + 14·3.4 + M/137 at 24.7
// MB
TEST(NcclModel, GoesFromLLToSimpleAsVectorsGrow) {
  const NcclModel model({.node_bandwidth = 300e9, .nic_bandwidth = 25e9}, 8, 1);
  const auto all = changes(model);
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0], (std::pair{NcclChoice{ring, ll}, std::int64_t{64}}));
  EXPECT_EQ(all[1], (std::pair{NcclChoice{ring, ll128}, std::int64_t{4} << 20}));
  EXPECT_EQ(all[2], (std::pair{NcclChoice{ring, simple}, std::int64_t{32} << 20}));
}

// Published: NVLink SHARP on eight H200, rings on four of them; trees between two nodes whose bus
// bandwidth is above that of their NICs (78 GB/s through 50), rings between many.
TEST(NcclModel, ChoosesWhatWasSeenForLargeVectors) {
  const std::int64_t large = std::int64_t{8} << 30;
  const Links h200{.node_bandwidth = 450e9, .nic_bandwidth = 50e9, .nics = 8}, a100{300e9, 12.5e9, 4};
  EXPECT_EQ(NcclModel(h200, 8, 1).choose(large).algorithm, nvls);
  EXPECT_EQ(NcclModel(h200, 4, 1).choose(large).algorithm, ring);
  EXPECT_EQ(NcclModel(h200, 16, 2).choose(large).algorithm, nvls_tree);
  EXPECT_EQ(NcclModel(a100, 16, 2).choose(large).algorithm, tree);
  EXPECT_EQ(NcclModel(a100, 64, 8).choose(large).algorithm, ring);
}

// However NICs are told: one that a node shares, or one of an eighth for each GPU.
TEST(NcclModel, TakesAFastSharedNicForSeveral) {
  const Links shared{300e9, 50e9, 1}, own{300e9, 6.25e9, 8};
  for (std::int64_t bytes = 1 << 28; bytes <= std::int64_t{1} << 32; bytes *= 2)
    EXPECT_EQ(NcclModel(shared, 16, 2).choose(bytes).algorithm, NcclModel(own, 16, 2).choose(bytes).algorithm) << bytes;
}

TEST(Nccl, IsRefusedByNameWhereItIsNot) {
  try {
    Backends::make("threads")->all_reduce_here("nccl");
    FAIL() << "nothing was refused";
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("'nccl' is what NCCL chooses"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("--all-reduce ring"), std::string::npos) << error.what();
  }
  EXPECT_EQ(Backends::make("threads")->all_reduce_here("pipelined_ring"), "pipelined_ring");
}

}  // namespace
}  // namespace trigram::testing::nccl_model_test
