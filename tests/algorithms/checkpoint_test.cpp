// 2k steps are k, a checkpoint, and k from there, bit for bit: with every optimizer, workload and schedule. Every
// algorithm does the same in the conformance suite.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/conformance/lone_rank.hpp"
#include "core/step/optimizer.hpp"
#include "core/training/handover.hpp"
#include "core/values/error.hpp"
#include "core/values/packing.hpp"
#include "tests/algorithms/script.hpp"
#include "tests/algorithms/worlds.hpp"
#include "tests/support/same_bits.hpp"

namespace trigram::testing::checkpoint_test {
namespace {

constexpr std::int64_t half = 5;

TrainingOptions of(const std::string& algorithm, const std::string& workload) {
  TrainingOptions options = scripted(algorithm, 2 * half);
  options.workload = workload;
  options.record_all = true;
  options.evaluate_every = 2;
  options.learning_rate = 0.01;
  options.checkpoint.every = half;
  options.checkpoint.keep = true;
  return options;
}

/// The same options, from the checkpoint that is in these reports.
TrainingOptions from(TrainingOptions options, const Training& whole) {
  options.checkpoint.load = [&whole](int rank) { return whole.ranks[static_cast<std::size_t>(rank)].state; };
  return options;
}

void expect_same(const std::string& backend, int ranks, const TrainingOptions& options) {
  const Training whole = train_on(backend, ranks, options);
  const Training rest = train_on(backend, ranks, from(options, whole));
  expect_same_bits(rest, whole);
  const std::vector<EvalRow> rows = evaluations(whole), again = evaluations(rest);
  ASSERT_EQ(again.size(), rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) EXPECT_EQ(again[i].consensus_distance, rows[i].consensus_distance);
}

class EveryOptimizer : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryOptimizer, GoesOnFromACheckpoint) {
  TrainingOptions options = of("decentralized", "quadratic:dimension=29,layers=4,noise=0.5");
  options.optimizer = GetParam();
  options.schedule = "cosine:warmup=3";
  expect_same(threads(2), 3, options);
}

/// From the last checkpoint of other ranks.
Training on_other_ranks(TrainingOptions options, int ranks, const Training& then) {
  const auto before = static_cast<int>(then.ranks.size());
  const MemberChange change =
      MemberChange::of_size(before, training_ranks(options, before), ranks, training_ranks(options, ranks));
  const Handover handover(change, [&](int rank) { return then.ranks[static_cast<std::size_t>(rank)].state; });
  options.checkpoint.load = [&](int rank) { return handover.of(rank); };
  return train_on(threads(2), ranks, options);
}

/// Whole numbers, so that means over 1, 2 and 4 ranks are exact.
float gradient_of_all(std::int64_t step, int, std::int64_t element, float) {
  return static_cast<float>((step * 13 + element * 7) % 31 - 15);
}
float gradient_of_each(std::int64_t step, int rank, std::int64_t element, float) {
  return static_cast<float>(4 * ((step * 13 + rank * 29 + element * 7) % 31 - 15));
}

void play_gradients(float (*gradient)(std::int64_t, int, std::int64_t, float)) {
  Script script;
  script.layers = {6, 9, 4};
  script.gradient = gradient;
  play(script);
}

// Where all ranks have the same gradient, each number of them is one rank.
TEST_P(EveryOptimizer, GoesOnOnAnotherNumberOfRanks) {
  play_gradients(gradient_of_all);
  TrainingOptions options = of("all_reduce", "scripted");
  options.optimizer = GetParam();
  const auto one = weights_of(train_on(threads(2), 1, options));
  for (const auto& [before, after] : {std::pair(4, 2), {2, 4}, {4, 1}}) {
    const Training rest = on_other_ranks(options, after, train_on(threads(2), before, options));
    const auto weights = weights_of(rest);
    ASSERT_EQ(weights.size(), static_cast<std::size_t>(after));
    for (const auto& rank : weights) EXPECT_EQ(rank, one[0]) << before << " to " << after;
  }
}

INSTANTIATE_TEST_SUITE_P(Optimizers, EveryOptimizer, ::testing::ValuesIn(Optimizers::names()),
                         [](const auto& optimizer) { return optimizer.param; });

TEST(Checkpoints, HoldWhatWorkloadsAndPaddingNeed) {
  for (const std::string workload : {"mlp", "softmax:batch=32", "on_profile:model=(softmax),profile=(vgg16)"}) {
    TrainingOptions options = of("bytegrad", workload);
    options.label_skew = workload == "mlp" ? 0.5 : 0;
    options.buckets = {.bytes = 1024, .alignment = 64};
    SCOPED_TRACE(workload);
    expect_same(threads(2), 3, options);
  }
}

TEST(Checkpoints, HoldWhatSimulatedTimeNeeds) {
  if (!Backends::has("sim")) GTEST_SKIP() << "this build has no simulator";
  for (const std::string fidelity : {"exact", "fluid"}) {
    TrainingOptions options = of("async_average:every=2", "vgg16");
    options.keep_weights = false;
    options.evaluate_every = 0;
    options.evaluate_seconds = 0.01;
    const Training whole = train_on(simulator(2, fidelity), 5, options);
    const Training rest = train_on(simulator(2, fidelity), 5, from(options, whole));
    EXPECT_EQ(rest.seconds, whole.seconds) << fidelity;
    for (std::size_t rank = 0; rank < 5; ++rank) {
      const RankReport &a = whole.ranks[rank], &b = rest.ranks[rank];
      ASSERT_EQ(a.steps.size(), b.steps.size());
      EXPECT_EQ(a.recorded, b.recorded);
      for (std::size_t i = 0; i < a.steps.size(); ++i) {
        EXPECT_EQ(a.steps[i].time_s, b.steps[i].time_s) << fidelity << " rank " << rank << " step " << i;
        EXPECT_EQ(a.steps[i].exposed_s, b.steps[i].exposed_s) << fidelity << " rank " << rank << " step " << i;
        EXPECT_EQ(a.steps[i].wire_s, b.steps[i].wire_s) << fidelity << " rank " << rank << " step " << i;
      }
    }
  }
}

TEST(Checkpoints, OfAnotherListAreRefused) {
  const Training whole = train_on(threads(2), 2, of("gradient_tracking", "quadratic"));
  try {
    train_on(threads(2), 2, from(of("sgp", "quadratic"), whole));
    FAIL() << "went on with the state of another algorithm";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(),
                ::testing::HasSubstr(
                    " goes on from: the checkpoint holds 'algorithm, tracked 0' where 'algorithm, pushed 0' is "
                    "wanted; go on with the program and the settings that wrote it"));
  }
}

/// As where machines see a folder at different times.
TEST(Checkpoints, OfDifferentStepsOnDifferentRanksAreRefused) {
  TrainingOptions options = of("all_reduce", "quadratic");
  const Training late = train_on(threads(2), 2, options);
  options.checkpoint.every = half - 1;
  options.steps = 2 * (half - 1);
  const Training early = train_on(threads(2), 2, options);
  options.checkpoint.load = [&](int rank) {
    return (rank == 0 ? early : late).ranks[static_cast<std::size_t>(rank)].state;
  };
  try {
    train_on(threads(2), 2, options);
    FAIL() << "went on from different steps";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("and ranks have those after steps " + std::to_string(half - 1) +
                                                   " to " + std::to_string(half) +
                                                   ", since they do not see the same files; name one manifest"));
  }
}

// w − γ (Σ over the first half of the mean over the ranks of then + Σ over the second of that over those of now).
TEST(CheckpointsOfOtherRanks, GoOnFromWhatAllHaveInCommon) {
  play_gradients(gradient_of_each);
  TrainingOptions options = of("all_reduce", "scripted");
  options.learning_rate = 0.125;
  for (const auto& [before, after] : {std::pair(4, 2), {2, 4}}) {
    const Training rest = on_other_ranks(options, after, train_on(threads(2), before, options));
    const auto weights = weights_of(rest);
    for (std::int64_t element = 0; element < 19; ++element) {
      float expected = 0;
      for (std::int64_t step = 0; step < 2 * half; ++step) {
        const int ranks = step < half ? before : after;
        for (int rank = 0; rank < ranks; ++rank)
          expected -= 0.125F * gradient_of_each(step, rank, element, 0) / static_cast<float>(ranks);
      }
      for (const auto& rank : weights) EXPECT_EQ(rank[static_cast<std::size_t>(element)], expected);
    }
    std::vector<std::int64_t> evaluated;
    for (const EvalRow& row : evaluations(rest)) evaluated.push_back(row.step);
    EXPECT_THAT(evaluated, ::testing::ElementsAre(0, 2, 4, 6, 8, 10));
    for (const RankReport& rank : rest.ranks) {
      ASSERT_EQ(rank.steps.size(), static_cast<std::size_t>(rank.rank < before ? 2 * half : half));
      EXPECT_EQ(rank.steps.back().rank, rank.rank);
      EXPECT_EQ(rank.steps_done, 2 * half);
    }
  }
}

// Ranks that train alone, each along its own gradients: the mean model goes on from the mean over all ranks of then.
TEST(CheckpointsOfOtherRanks, KeepTheMeanOfWhatRanksHoldDifferently) {
  play_gradients(gradient_of_each);
  TrainingOptions options = of("local_sgd:every=100", "scripted");
  options.learning_rate = 0.125;
  const Training then = train_on(threads(2), 4, options);
  for (const int ranks : {2, 8}) {
    const auto weights = weights_of(on_other_ranks(options, ranks, then));
    EXPECT_NE(weights.front(), weights.back()) << ranks;
    double mean = 0, expected = 0;
    for (const auto& rank : weights) mean += static_cast<double>(rank[0]) / ranks;
    for (std::int64_t step = 0; step < 2 * half; ++step) {
      const int trained = step < half ? 4 : ranks;
      for (int rank = 0; rank < trained; ++rank)
        expected -= 0.125 * static_cast<double>(gradient_of_each(step, rank, 0, 0)) / trained;
    }
    EXPECT_NEAR(mean, expected, 1e-4) << ranks;
  }
}

}  // namespace
}  // namespace trigram::testing::checkpoint_test
