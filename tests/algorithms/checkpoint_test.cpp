// 2k steps are k, a checkpoint, and k from there, bit for bit: with every optimizer, workload and schedule. Every
// algorithm does the same in the conformance suite.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.hpp"
#include "core/optimizer.hpp"
#include "core/packing.hpp"
#include "tests/algorithms/worlds.hpp"
#include "tests/support/lone_rank.hpp"
#include "tests/support/same_bits.hpp"

namespace trigram::testing {
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

}  // namespace
}  // namespace trigram::testing
