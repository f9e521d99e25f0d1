// Algorithm × {overlap, leader, all_nics}: each cell runs, or is refused with a reason before any rank starts.
#include <gtest/gtest.h>

#include <cmath>

#include "core/step/algorithm.hpp"
#include "core/values/error.hpp"
#include "tests/algorithms/script.hpp"
#include "tests/algorithms/worlds.hpp"

namespace trigram::testing {
namespace {

void play_rough_gradients() {
  Script script;
  script.layers = {6, 13, 2};
  script.dimensions = {{2, 3}, {13}, {2}};
  script.gradient = [](std::int64_t step, int rank, std::int64_t element, float weight) {
    return static_cast<float>(
               std::sin(1.1 * static_cast<double>(step) + 2.3 * rank + 0.9 * static_cast<double>(element))) +
           0.25F * weight;
  };
  play(script);
}

TrainingOptions relaxed(const std::string& algorithm, bool overlap, Hierarchy hierarchy) {
  constexpr std::int64_t steps = 20;  // in the last of which periodic methods exchange
  TrainingOptions options = scripted(algorithm, steps);
  options.relaxation.overlap = overlap;
  options.relaxation.hierarchy = hierarchy;
  return options;
}

using Cell = std::tuple<std::string, bool, Hierarchy, int>;

class OptionTable : public ::testing::TestWithParam<Cell> {};

Refusal refusal(const Algorithm& algorithm, bool overlap, Hierarchy hierarchy) {
  if (overlap && !algorithm.refuses(Option::overlap).empty()) return algorithm.refuses(Option::overlap);
  if (hierarchy == Hierarchy::leader) return algorithm.refuses(Option::leader);
  if (hierarchy == Hierarchy::all_nics) return algorithm.refuses(Option::all_nics);
  return {};
}

TEST_P(OptionTable, CellRunsAtItsDeclaredCostOrIsRefusedWithAReason) {
  play_rough_gradients();
  const auto& [name, overlap, hierarchy, ranks] = GetParam();
  const auto algorithm = Algorithms::make(name);
  const TrainingOptions options = relaxed(name, overlap, hierarchy);
  const std::string backend = threads(4);
  const Refusal reason = refusal(*algorithm, overlap, hierarchy);
  if (!reason.empty()) {
    try {
      train_on(backend, ranks, options);
      FAIL() << "must be refused: " << reason;
    } catch (const UsageError& error) {
      EXPECT_NE(std::string(error.what()).find(reason), std::string::npos) << error.what();
    }
    return;
  }
  const Training training = train_on(backend, ranks, options);
  const bool synchronous = algorithm->trigram().synchrony == Trigram::Synchrony::synchronous;
  for (const RankReport& report : training.ranks) {
    Cost counted = report.setup_and_finish;
    for (std::size_t step = 0; step < report.cost_by_step.size(); ++step) {
      counted += report.cost_by_step[step];
      if (!synchronous) continue;
      EXPECT_EQ(report.cost_by_step[step],
                declared_cost(backend, ranks, options, report.rank, static_cast<std::int64_t>(step)))
          << "rank " << report.rank << ", step " << step;
    }
    if (synchronous) continue;
    const Cost averaging = declared_cost(backend, ranks, options, report.rank, 0);
    ASSERT_GT(averaging.rounds, 0);
    EXPECT_EQ(counted.rounds % averaging.rounds, 0) << "rank " << report.rank;
    EXPECT_EQ(counted.bytes * averaging.rounds, averaging.bytes * counted.rounds) << "rank " << report.rank;
  }
  const bool centralized = algorithm->trigram().centrality == Trigram::Centrality::centralized;
  if (centralized && algorithm->invariants({}).replicas != Invariants::Replicas::free) {
    const auto weights = weights_of(training);
    for (const auto& one : weights) EXPECT_EQ(one, weights.front());
  }
}

std::string cell_name(const ::testing::TestParamInfo<Cell>& info) {
  const auto& [algorithm, overlap, hierarchy, ranks] = info.param;
  return algorithm + (overlap ? "_overlap_" : "_serial_") + std::string(name_of(hierarchy)) + "_" +
         std::to_string(ranks);
}

// Two nodes of four; all_nics needs equal nodes, leader also runs on nodes of 4 and 3.
INSTANTIATE_TEST_SUITE_P(EqualNodes, OptionTable,
                         ::testing::Combine(::testing::ValuesIn(Algorithms::own_names()), ::testing::Bool(),
                                            ::testing::Values(Hierarchy::none, Hierarchy::leader, Hierarchy::all_nics),
                                            ::testing::Values(8)),
                         cell_name);
INSTANTIATE_TEST_SUITE_P(UnequalNodes, OptionTable,
                         ::testing::Combine(::testing::ValuesIn(Algorithms::own_names()), ::testing::Bool(),
                                            ::testing::Values(Hierarchy::leader), ::testing::Values(7, 3)),
                         cell_name);

class HierarchyOf : public ::testing::TestWithParam<std::string> {};

TEST_P(HierarchyOf, AllNicsOnUnequalNodesIsRefusedWithBothSizes) {
  play_rough_gradients();
  if (!Algorithms::make(GetParam())->refuses(Option::all_nics).empty()) GTEST_SKIP() << "refused on any nodes";
  try {
    train_on(threads(4), 7, relaxed(GetParam(), true, Hierarchy::all_nics));
    FAIL() << "nodes of 4 and 3 ranks must be refused";
  } catch (const UsageError& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("node 0 has 4 ranks"), std::string::npos) << message;
    EXPECT_NE(message.find("node 1 has 3"), std::string::npos) << message;
  }
}

TEST_P(HierarchyOf, BitsDoNotDependOnOverlapInsideHierarchies) {
  play_rough_gradients();
  const auto algorithm = Algorithms::make(GetParam());
  if (!algorithm->deterministic()) GTEST_SKIP() << "depends on timing";
  for (const Hierarchy hierarchy : {Hierarchy::leader, Hierarchy::all_nics}) {
    if (!refusal(*algorithm, true, hierarchy).empty()) continue;
    EXPECT_EQ(weights_of(train_on(threads(4), 8, relaxed(GetParam(), true, hierarchy))),
              weights_of(train_on(threads(4), 8, relaxed(GetParam(), false, hierarchy))));
  }
}

INSTANTIATE_TEST_SUITE_P(All, HierarchyOf, ::testing::ValuesIn(Algorithms::own_names()),
                         [](const auto& one) { return one.param; });

/// Chunks of a bucket of many elements are cut by grains, and the last grain is not whole.
TEST(LongBuckets, OfOddSizesSendWhatIsDeclaredAndLeaveReplicasAlike) {
  constexpr int ranks = 8;
  Script script;
  script.layers = {long_chunk * ranks + 4 * chunk_grain + 5};
  script.gradient = [](std::int64_t, int rank, std::int64_t element, float weight) {
    return static_cast<float>(rank - element % 7) + 0.25F * weight;
  };
  play(script);
  for (const char* name : {"all_reduce", "bytegrad", "qsgd"}) {
    for (const Hierarchy hierarchy : {Hierarchy::none, Hierarchy::leader, Hierarchy::all_nics}) {
      if (!refusal(*Algorithms::make(name), true, hierarchy).empty()) continue;
      TrainingOptions options = relaxed(name, true, hierarchy);
      options.steps = 1;
      const Training training = train_on(threads(4), ranks, options);
      for (const RankReport& report : training.ranks) {
        EXPECT_EQ(report.cost_by_step.front(), declared_cost(threads(4), ranks, options, report.rank, 0)) << name;
        EXPECT_EQ(report.weights, training.ranks.front().weights) << name << ", rank " << report.rank;
      }
    }
  }
}

TEST(Hierarchies, FullPrecisionMeansAgreeWithTheFlatOne) {
  play_rough_gradients();
  for (const char* name : {"all_reduce", "local_sgd:every=2"}) {
    const auto flat = weights_of(train_on(threads(4), 8, relaxed(name, true, Hierarchy::none)));
    for (const Hierarchy hierarchy : {Hierarchy::leader, Hierarchy::all_nics}) {
      const auto nested = weights_of(train_on(threads(4), 8, relaxed(name, true, hierarchy)));
      for (std::size_t i = 0; i < flat[0].size(); ++i) EXPECT_NEAR(nested[0][i], flat[0][i], 1e-6);
    }
  }
}

// Methods that take means of gradients, of weights, of factors and in the background.
TEST(Hierarchies, GoByChunksInEveryFullPrecisionMean) {
  play_rough_gradients();
  for (const char* name : {"all_reduce", "local_sgd:every=2", "power_sgd", "async_average", "bytegrad"}) {
    for (const Hierarchy hierarchy : {Hierarchy::leader, Hierarchy::all_nics}) {
      for (const bool overlap : {true, false}) {
        const TrainingOptions options = relaxed(name, overlap, hierarchy);
        if (!refusal(*Algorithms::make(name), overlap, hierarchy).empty()) continue;
        World world;
        world.ranks = 8;
        const auto train = [&](int chunks) {
          world.hierarchy_chunks = chunks;
          return run_training(*Backends::make(threads(4)), world, options);
        };
        const Training whole = train(1), chunked = train(3);
        if (!Algorithms::make(name)->deterministic()) continue;
        const auto expected = weights_of(whole), found = weights_of(chunked);
        for (std::size_t i = 0; i < found[0].size(); ++i) EXPECT_NEAR(found[0][i], expected[0][i], 1e-5) << name;
        for (const auto& one : found) EXPECT_EQ(one, found.front()) << name;
      }
    }
  }
}

TEST(Hierarchies, ADecentralizedNodeIsOneVertex) {
  // Nodes {0,1}, {2,3}, {4,5}, {6,7} on the complete graph: after one mix of weights that differ, all ranks agree.
  Script script;
  script.layers = {8};
  script.gradient = [](std::int64_t step, int rank, std::int64_t element, float) {
    return step == 0 ? static_cast<float>(8 * rank + element) : 0.0F;
  };
  play(script);
  for (const Hierarchy hierarchy : {Hierarchy::leader, Hierarchy::all_nics}) {
    TrainingOptions options = relaxed("decentralized:topology=ring", true, hierarchy);
    options.steps = 2;
    const auto weights = weights_of(train_on(threads(2), 8, options));
    for (int node = 0; node < 4; ++node) {
      // Vertex v holds −(8·(2v + ½) + e)/8; a ring's third of its own and both neighbours' values.
      double mean = 0;
      for (const int neighbour : {(node + 3) % 4, node, (node + 1) % 4}) mean -= (8 * (2 * neighbour + 0.5)) / 8 / 3;
      for (int local = 0; local < 2; ++local) {
        const auto& own = weights[static_cast<std::size_t>(2 * node + local)];
        for (std::size_t i = 0; i < own.size(); ++i) EXPECT_NEAR(own[i], mean - static_cast<double>(i) / 8, 1e-5);
      }
    }
  }
}

}  // namespace
}  // namespace trigram::testing
