// Every algorithm in a mesh: a data line trains as if it were all there is, and a mesh of one axis is none.
#include <gtest/gtest.h>

#include <optional>

#include "core/step/algorithm.hpp"
#include "core/values/error.hpp"
#include "tests/algorithms/worlds.hpp"
#include "tests/support/same_bits.hpp"

namespace trigram::testing {
namespace {

constexpr int replicas = 4;

TrainingOptions options_of(const std::string& algorithm, Hierarchy hierarchy) {
  TrainingOptions options;
  options.algorithm = algorithm;
  options.workload = "mlp";
  options.steps = 5;
  options.evaluate_every = 2;
  options.buckets.bytes = 1024;
  options.label_skew = 1;
  options.relaxation.hierarchy = hierarchy;
  options.relaxation.seed = 3;
  options.record_all = options.keep_weights = true;
  return options;
}

/// None where the algorithm refuses these options.
std::optional<Training> train_in(const std::string& backend, int ranks, const std::string& mesh,
                                 const TrainingOptions& options) {
  World world;
  world.ranks = ranks;
  world.bucket_lanes = 2;
  world.mesh = mesh;
  try {
    return run_training(*Backends::make(backend), world, options);
  } catch (const UsageError&) {
    return {};
  }
}

/// The ranks that train and are at `place` on the axis tensor, the last one of `size`.
Training line(const Training& all, int place, int size) {
  Training line;
  for (const RankReport& report : all.ranks) {
    if (report.steps_done > 0 && report.rank % size == place) line.ranks.push_back(report);
  }
  return line;
}

void expect_same_evaluations(const Training& a, const Training& b) {
  const std::vector<EvalRow> one = evaluations(a), other = evaluations(b);
  ASSERT_EQ(one.size(), other.size());
  for (std::size_t i = 0; i < one.size(); ++i) {
    EXPECT_EQ(one[i].loss, other[i].loss) << "row " << i;
    EXPECT_EQ(one[i].accuracy, other[i].accuracy) << "row " << i;
    EXPECT_EQ(one[i].worst_accuracy, other[i].worst_accuracy) << "row " << i;
    EXPECT_NEAR(one[i].consensus_distance, other[i].consensus_distance, 1e-9) << "row " << i;
    EXPECT_EQ(one[i].bytes_sent, other[i].bytes_sent) << "row " << i;
  }
}

class MeshLines : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (!Backends::has("sim")) GTEST_SKIP() << "this build has no simulator";
  }

  /// A node has so many GPUs of each line: those of both, unless it has one GPU only.
  static void expect_lines(int gpus_of_a_line, Hierarchy hierarchy, const std::string& fidelity) {
    const TrainingOptions options = options_of(GetParam(), hierarchy);
    const SentBytes sent = sent_bytes_of(GetParam());
    const int gpus = gpus_of_a_line == 1 ? 1 : 2 * gpus_of_a_line;
    const auto alone = train_in(simulator(gpus_of_a_line, fidelity), replicas, "", options);
    const auto named = train_in(simulator(gpus_of_a_line, fidelity), replicas, "data=4", options);
    const auto lines = train_in(simulator(gpus, fidelity), 2 * replicas, "data=4,tensor=2", options);
    ASSERT_EQ(named.has_value(), alone.has_value());
    ASSERT_EQ(lines.has_value(), alone.has_value());
    if (!alone) return;
    const Training expected = line(*alone, 0, 1);
    expect_same_bits(line(*named, 0, 1), expected, sent);
    EXPECT_EQ(named->seconds, alone->seconds);
    expect_same_evaluations(*named, *alone);
    for (const int place : {0, 1}) {
      SCOPED_TRACE("tensor " + std::to_string(place));
      expect_same_bits(line(*lines, place, 2), expected, sent);
    }
    expect_same_evaluations(*lines, *alone);
  }
};

// On nodes of one GPU no line takes another's bandwidth, so that what depends on time is the same too.
TEST_P(MeshLines, TrainAsIfTheyWereAlone) {
  expect_lines(1, Hierarchy::none, "exact");
  expect_lines(1, Hierarchy::none, "fluid");
}

TEST_P(MeshLines, HaveAHierarchyOfTheirOwn) {
  if (!Algorithms::make(GetParam())->deterministic()) GTEST_SKIP() << GetParam() << " depends on timing";
  for (const Hierarchy hierarchy : {Hierarchy::leader, Hierarchy::all_nics}) {
    SCOPED_TRACE(name_of(hierarchy));
    expect_lines(2, hierarchy, "exact");
  }
}

INSTANTIATE_TEST_SUITE_P(Probes, MeshLines, ::testing::ValuesIn(probes()),
                         [](const auto& algorithm) { return algorithm.param; });
INSTANTIATE_TEST_SUITE_P(EveryOther, MeshLines, ::testing::ValuesIn(others_than_probes()),
                         [](const auto& algorithm) { return algorithm.param; });

std::string refusal(const std::string& backend, int ranks, const std::string& mesh, const TrainingOptions& options) {
  World world;
  world.ranks = ranks;
  world.mesh = mesh;
  try {
    check(options, world, *Backends::make(backend));
    return "";
  } catch (const UsageError& error) {
    return error.what();
  }
}

TEST(Meshes, AreLookedAtBeforeAnyRankStarts) {
  const TrainingOptions all_nics = options_of("all_reduce", Hierarchy::all_nics);
  EXPECT_EQ(refusal(threads(4), 8, "data=4,tensor=2", all_nics), "");
  // Ranks 0 2 | 4 on nodes of four.
  EXPECT_EQ(refusal(threads(4), 6, "data=3,tensor=2", all_nics),
            "hierarchy all_nics needs equal nodes in each data-parallel group of the mesh, but node 0 has 2 ranks and "
            "node 1 has "
            "1; use leader");
  EXPECT_EQ(refusal(threads(4), 6, "data=2,tensor=2", all_nics).substr(0, 46),
            "mesh 'data=2,tensor=2': it has 4 places, but t");
  EXPECT_EQ(refusal(threads(4), 4, "data=1,tensor=4", options_of("parameter_server", Hierarchy::none)),
            "algorithm 'parameter_server' makes 1 of 1 ranks of a data-parallel group servers, which leaves none to "
            "train; ask for "
            "more ranks along data or for fewer servers");
}

}  // namespace
}  // namespace trigram::testing
