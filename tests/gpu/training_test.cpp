// The same training on GPUs and on the processors of threads: to the last bit where no matrix is multiplied, within a
// tolerance where one is.
#include "core/training/training.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "core/step/algorithm.hpp"
#include "core/values/error.hpp"
#include "tests/algorithms/worlds.hpp"
#include "tests/gpu/job_size.hpp"
#include "tests/support/same_bits.hpp"

namespace trigram::testing {
namespace {

constexpr const char* on_threads = "threads:ranks_per_node=2";

/// How far losses may differ after a few steps: sums of products are added in another order.
constexpr double relative_tolerance = 1e-4;

TrainingOptions options_of(const std::string& algorithm, const std::string& workload) {
  return kept_training(algorithm, workload, 128);
}

void expect_close_losses(const Training& a, const Training& b) {
  ASSERT_EQ(a.ranks.size(), b.ranks.size());
  for (std::size_t rank = 0; rank < a.ranks.size(); ++rank) {
    ASSERT_EQ(a.ranks[rank].steps.size(), b.ranks[rank].steps.size());
    for (std::size_t step = 0; step < a.ranks[rank].steps.size(); ++step) {
      const double expected = b.ranks[rank].steps[step].loss;
      EXPECT_NEAR(a.ranks[rank].steps[step].loss, expected, relative_tolerance * std::abs(expected))
          << "rank " << rank << ", step " << step;
    }
  }
}

/// Training on threads, or the reason why it is refused; the same in every process.
std::string train_on_threads(const TrainingOptions& options, Training& training) {
  try {
    training = run_training(*Backends::make(on_threads), world_of_all(), options);
    return "";
  } catch (const UsageError& error) {
    return error.what();
  }
}

class SameTraining : public ::testing::TestWithParam<std::string> {
 protected:
  template <class Compare>
  static void expect(const TrainingOptions& options, Compare compare) {
    if (!Algorithms::make(GetParam())->deterministic()) GTEST_SKIP() << GetParam() << " depends on timing";
    Training reference;
    const std::string refusal = train_on_threads(options, reference);
    if (!refusal.empty()) GTEST_SKIP() << refusal;
    compare(run_training(*Backends::make(on_gpus), world_of_all(), options), reference);
  }
  static void same_bits(const Training& a, const Training& b) { expect_same_bits(a, b, sent_bytes_of(GetParam())); }
  static TrainingOptions quadratic() { return options_of(GetParam(), "quadratic"); }
};

TEST_P(SameTraining, BitsWithOverlap) { expect(quadratic(), same_bits); }
TEST_P(SameTraining, BitsWithoutOverlap) {
  TrainingOptions options = quadratic();
  options.relaxation.overlap = false;
  expect(options, same_bits);
}
TEST_P(SameTraining, BitsWithLeaders) {
  TrainingOptions options = quadratic();
  options.relaxation.hierarchy = Hierarchy::leader;
  expect(options, same_bits);
}
TEST_P(SameTraining, BitsWithAllNics) {
  TrainingOptions options = quadratic();
  options.relaxation.hierarchy = Hierarchy::all_nics;
  expect(options, same_bits);
}
TEST_P(SameTraining, BitsWithAdam) {
  TrainingOptions options = quadratic();
  options.optimizer = "adam";
  expect(options, same_bits);
}
TEST_P(SameTraining, LossesOfANetwork) { expect(kept_training(GetParam()), expect_close_losses); }

INSTANTIATE_TEST_SUITE_P(EveryAlgorithm, SameTraining, ::testing::ValuesIn(shipped_algorithms()),
                         [](const auto& algorithm) { return algorithm.param; });

TEST(TrainingOnGpus, InTheBackgroundEndsWithEqualWeights) {
  const Training training =
      run_training(*Backends::make(on_gpus), world_of_all(), options_of("async_average", "quadratic"));
  for (const RankReport& report : training.ranks) EXPECT_EQ(report.weights, training.ranks.front().weights);
}

TEST(TrainingOnGpus, LossesOfATransformerAreThoseOfThreads) {
  TrainingOptions options =
      options_of("all_reduce", "transformer:layers=1,width=8,heads=2,context=6,batch=5,score_samples=2");
  options.steps = 3;
  options.buckets.bytes = 2048;
  expect_close_losses(run_training(*Backends::make(on_gpus), world_of_all(), options),
                      run_training(*Backends::make(on_threads), world_of_all(), options));
}

/// Seconds are those of the work: they fit into the step, and spans of one lane do not overlap.
TEST(TrainingOnGpus, RecordsWhenWorkRan) {
  TrainingOptions options = options_of("all_reduce", "mlp");
  options.keep_spans = true;
  World world = world_of_all();
  world.keep_spans = true;
  const Training training = run_training(*Backends::make(on_gpus), world, options);
  for (const RankReport& report : training.ranks) {
    double before = 0;
    for (const StepRow& row : report.steps) {
      EXPECT_GT(row.time_s, before);
      EXPECT_GT(row.compute_s, 0);
      EXPECT_GE(row.wire_s, 0);
      before = row.time_s;
    }
    ASSERT_FALSE(report.spans.empty());
    std::vector<double> end_of_lane(static_cast<std::size_t>(world.bucket_lanes) + 2, 0.0);
    for (const LaneSpan& span : report.spans) {
      double& end = end_of_lane.at(static_cast<std::size_t>(span.lane));
      constexpr double rounding = 1e-6;
      EXPECT_GE(span.end, span.begin);
      EXPECT_GE(span.begin, end - rounding);
      end = span.end;
    }
    EXPECT_GT(report.training_seconds, 0);
  }
}

TEST(TrainingOnGpus, SaysWhatItRanOn) {
  const Training training =
      run_training(*Backends::make(on_gpus), world_of_all(), options_of("all_reduce", "quadratic"));
  const auto facts = nlohmann::json::parse(training.facts);
  EXPECT_EQ(facts.at("devices").size(), static_cast<std::size_t>(world_of_all().ranks));
  EXPECT_FALSE(facts.at("nccl").get<std::string>().empty());
  EXPECT_EQ(facts.at("collectives"), "own");
}

}  // namespace
}  // namespace trigram::testing
