// Threads that nobody of ours started become ranks, and their own loops train as the trainer does, to the last bit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <thread>

#include "core/step/algorithm.hpp"
#include "core/values/error.hpp"
#include "tests/algorithms/worlds.hpp"
#include "tests/support/driven_loop.hpp"

namespace trigram::testing::entered_test {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr int ranks = 4;

World small_world() {
  World world;
  world.ranks = ranks;
  world.bucket_lanes = 2;
  return world;
}

/// Calls `body` on a thread for each rank. The first error is rethrown.
void on_threads(const std::function<void(int thread)>& body) {
  std::vector<std::thread> threads;
  std::vector<std::exception_ptr> errors(ranks);
  for (int thread = 0; thread < ranks; ++thread) {
    threads.emplace_back([&, thread] {
      try {
        body(thread);
      } catch (...) {
        errors[static_cast<std::size_t>(thread)] = std::current_exception();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& error : errors) {
    if (error != nullptr) std::rethrow_exception(error);
  }
}

class Entered : public ::testing::TestWithParam<std::string> {
 protected:
  static void expect_same_weights(bool overlap, Steps steps, const std::string& mesh = "") {
    if (!Algorithms::make(GetParam())->deterministic()) GTEST_SKIP() << GetParam() << " depends on timing";
    TrainingOptions options;
    options.algorithm = GetParam();
    options.steps = 5;
    options.buckets.bytes = 1024;
    options.relaxation.overlap = overlap && Algorithms::make(GetParam())->refuses(Option::overlap).empty();
    options.relaxation.seed = 5;
    options.keep_weights = true;
    const auto backend = Backends::make(threads(2));
    World world = small_world();
    world.mesh = mesh;
    const Training trained = run_training(*backend, world, options);
    std::vector<RankReport> driven;
    on_threads([&](int thread) {
      auto reports = drive_as_entered(*backend, world, options, steps);
      if (thread == 0) driven = std::move(reports);
    });
    expect_weights_of(driven, trained);
  }
};

TEST_P(Entered, LoopsHaveTheTrainersWeights) { expect_same_weights(true, Steps::by_the_object); }
TEST_P(Entered, LoopsHaveTheTrainersWeightsWithoutOverlap) { expect_same_weights(false, Steps::by_the_object); }
TEST_P(Entered, LoopsMayStepTheWeightsThemselves) {
  const std::set<std::string> step_otherwise = {"gradient_tracking", "sgp", "zero_pp"};
  if (!step_otherwise.contains(GetParam())) return expect_same_weights(true, Steps::by_the_loop);
  EXPECT_THAT([] { expect_same_weights(true, Steps::by_the_loop); },
              ThrowsMessage<UsageError>(HasSubstr(
                  "only a part of bucket 0, or along another direction than its "
                  "gradients, which the loop's own cannot do; train it where Trigram's optimizers step the weights")));
}

TEST_P(Entered, LoopsAreInALineOfAMesh) { expect_same_weights(true, Steps::by_the_object, "data=2,tensor=2"); }

INSTANTIATE_TEST_SUITE_P(Probes, Entered, ::testing::ValuesIn(probes()),
                         [](const auto& algorithm) { return algorithm.param; });
INSTANTIATE_TEST_SUITE_P(EveryOther, Entered, ::testing::ValuesIn(others_than_probes()),
                         [](const auto& algorithm) { return algorithm.param; });

/// What each of four ranks learns of rank 1, which does `instead` of leaving.
std::vector<std::string> learned(const std::function<void(EnteredRank&)>& instead) {
  const auto backend = Backends::make(threads(2));
  std::vector<std::string> errors(ranks);
  on_threads([&](int thread) {
    const auto rank = backend->enter(small_world());
    try {
      if (rank->runtime().lane(0).comm->rank() == 1) return instead(*rank);
      rank->leave({});
    } catch (const Error& error) {
      errors[static_cast<std::size_t>(thread)] = error.what();
    }
  });
  return errors;
}

TEST(Entering, AllLeaveWithTheEndOfTheLast) {
  const auto backend = Backends::make(threads(2));
  std::vector<double> own(ranks), told(ranks);
  on_threads([&](int thread) {
    const auto rank = backend->enter(small_world());
    own[static_cast<std::size_t>(thread)] = rank->runtime().now();
    told[static_cast<std::size_t>(thread)] = rank->leave({}).seconds;
  });
  EXPECT_THAT(told, Each(told.front()));
  constexpr double nanosecond = 1e-9;
  EXPECT_GE(told.front(), *std::max_element(own.begin(), own.end()) - nanosecond);
}

TEST(Entering, ARankThatFailsReleasesTheOthersWithItsError) {
  const auto fails = [](EnteredRank& rank) {
    run_entered(rank, [](RankRuntime&) -> std::vector<std::byte> { throw UsageError("the flux of rank 1 is 7"); });
  };
  const std::vector<std::string> errors = learned(fails);
  EXPECT_THAT(errors, Contains(std::string("the flux of rank 1 is 7")).Times(1));
  EXPECT_THAT(errors, Contains(HasSubstr(" ends since rank 1 failed: the flux of rank 1 is 7")).Times(3));
}

TEST(Entering, ARankThatIsGoneWithoutLeavingIsAFailure) {
  EXPECT_THAT(learned([](EnteredRank&) {}),
              Contains(HasSubstr("failed: rank 1 neither left its world nor failed")).Times(3));
}

TEST(Entering, WhatNoLoopCanDoIsRefusedBefore) {
  TrainingOptions options;
  options.algorithm = "one_bit_adam";
  options.optimizer = "adam";
  const auto backend = Backends::make(threads(2));
  EXPECT_THAT([&] { drive_as_entered(*backend, small_world(), options, Steps::by_the_object); },
              ThrowsMessage<UsageError>(HasSubstr("algorithm 'one_bit_adam' updates weights by itself, so optimizer "
                                                  "'adam' would do nothing; leave it out")));
}

TEST(Entering, TheSimulatorSaysThatItStartsItsRanksItself) {
  const auto backend = Backends::make("sim");
  EXPECT_THAT([&] { backend->enter(small_world()); },
              ThrowsMessage<UsageError>(HasSubstr("backend 'sim' starts its ranks itself, in a process of its own, so "
                                                  "that none can enter: give it a workload to train (`trigram run`, or "
                                                  "Backend::run), or enter backend mpi")));
}

}  // namespace
}  // namespace trigram::testing::entered_test
