// Relaxations that relax nothing are the method that they relax: bit for bit on numbers whose sums are exact, to 1e-6
// elsewhere.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "tests/algorithms/script.hpp"
#include "tests/algorithms/worlds.hpp"

namespace trigram::testing {
namespace {

/// Gradients without any structure that depend on weights, so that rules which read other weights differ.
float rough_gradient(std::int64_t step, int rank, std::int64_t element, float weight) {
  const double phase =
      std::numbers::e * static_cast<double>(1 + step) + std::numbers::pi * rank + 0.7 * static_cast<double>(element);
  return static_cast<float>(std::sin(phase)) + 0.5F * weight;
}

/// Whole numbers, halved by weights that are dyadic: every sum and product in these tests is exact.
float exact_gradient(std::int64_t step, int rank, std::int64_t element, float) {
  return static_cast<float>(64 * ((step * 13 + rank * 29 + element * 7) % 31 - 15));
}

void play_gradients(float (*gradient)(std::int64_t, int, std::int64_t, float)) {
  Script script;
  script.layers = {6, 9, 4};
  script.initial = [](std::int64_t element) { return static_cast<float>(element % 7) - 3.0F; };
  script.gradient = gradient;
  play(script);
}

std::vector<std::vector<float>> weights_after(const std::string& algorithm, int ranks, std::int64_t steps,
                                              const std::string& optimizer = "sgd", bool overlap = true) {
  TrainingOptions options = scripted(algorithm, steps);
  options.evaluate_every = 0;
  options.optimizer = optimizer;
  options.relaxation.overlap = overlap;
  return weights_of(train_on(threads(2), ranks, options));
}

void expect_near(const std::vector<std::vector<float>>& a, const std::vector<std::vector<float>>& b, double relative) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t rank = 0; rank < a.size(); ++rank) {
    ASSERT_EQ(a[rank].size(), b[rank].size());
    for (std::size_t i = 0; i < a[rank].size(); ++i) {
      EXPECT_NEAR(a[rank][i], b[rank][i], relative * std::max(1.0F, std::abs(b[rank][i])))
          << "rank " << rank << ", element " << i;
    }
  }
}

class Identities : public ::testing::TestWithParam<int> {};

TEST_P(Identities, ScatterReduceWithTheIdentityCodecIsTheRingAllReduceBitForBit) {
  // The ring adds chunk i in the order i+1, …, i of ranks, and so does server i: also rough numbers agree in each bit.
  play_gradients(rough_gradient);
  const auto expected = weights_after("all_reduce", GetParam(), 6);
  EXPECT_EQ(weights_after("bytegrad:codec=identity", GetParam(), 6), expected);
  EXPECT_EQ(weights_after("bytegrad:codec=identity,error_feedback=on", GetParam(), 6), expected);
}

TEST_P(Identities, QsgdIsByteGradWithItsCodec) {
  play_gradients(rough_gradient);
  for (const std::string parameters : {"", "norm=2,levels=7", "bucket_size=4,stochastic=off"}) {
    const auto run = [&](const std::string& algorithm) {
      return train_on(threads(2), GetParam(), scripted(algorithm, 6));
    };
    const Training own = run(parameters.empty() ? "qsgd" : "qsgd:error_feedback=on," + parameters);
    const Training same =
        run(parameters.empty() ? "bytegrad:codec=qsgd" : "bytegrad:error_feedback=on,codec=(qsgd:" + parameters + ")");
    EXPECT_EQ(weights_of(own), weights_of(same)) << parameters;
    for (std::size_t rank = 0; rank < own.ranks.size(); ++rank)
      EXPECT_EQ(own.ranks[rank].sent, same.ranks[rank].sent) << parameters;
  }
}

TEST_P(Identities, MixingCompletelyAfterTheUpdateIsDataParallelSgd) {
  // J (x − γ g(x)) with equal x is x − γ mean g(x).
  play_gradients(rough_gradient);
  expect_near(weights_after("decentralized:topology=complete,mix=after", GetParam(), 6),
              weights_after("all_reduce", GetParam(), 6), 1e-6);
}

TEST_P(Identities, AveragingWeightsInEveryStepIsDataParallelSgd) {
  play_gradients(rough_gradient);
  expect_near(weights_after("local_sgd:every=1", GetParam(), 6), weights_after("all_reduce", GetParam(), 6), 1e-6);
}

TEST_P(Identities, MovingByAllOfTheDifferenceIsAveraging) {
  // x_begin − (x_begin − mean x) = mean x, in every step or every third.
  play_gradients(rough_gradient);
  expect_near(weights_after("diloco:every=1,outer=sgd,outer_lr=1", GetParam(), 6),
              weights_after("all_reduce", GetParam(), 6), 1e-6);
  expect_near(weights_after("diloco:every=3,outer=sgd,outer_lr=1", GetParam(), 6),
              weights_after("local_sgd:every=3", GetParam(), 6), 1e-6);
}

TEST_P(Identities, OneBitAdamWarmsUpAsAdamOnMeanGradientsBitForBit) {
  play_gradients(rough_gradient);
  EXPECT_EQ(weights_after("one_bit_adam:warmup=6", GetParam(), 6, ""),
            weights_after("all_reduce", GetParam(), 6, "adam"));
}

TEST_P(Identities, AsynchronousAveragingInPlaceIsLocalSgd) {
  // With overlap off nothing moves while weights are averaged: x + (mean x − x) = mean x in every step.
  play_gradients(rough_gradient);
  expect_near(weights_after("async_average:every=1", GetParam(), 6, "sgd", false),
              weights_after("local_sgd:every=1", GetParam(), 6), 1e-6);
}

TEST_P(Identities, EncodedChangesWithTheIdentityCodecAreAsynchronousAveraging) {
  play_gradients(rough_gradient);
  for (const char* parameters : {"codec=identity", "codec=identity,error_feedback=off,every=2"}) {
    const std::string every = std::string(parameters).ends_with("2") ? ":every=2" : "";
    expect_near(weights_after(std::string("low_precision_async_average:") + parameters, GetParam(), 6, "sgd", false),
                weights_after("async_average" + every, GetParam(), 6, "sgd", false), 1e-6);
  }
}

TEST_P(Identities, AsynchronousWarmUpIsDataParallelSgd) {
  // The averaging that ends the run finds equal weights and leaves them, up to the rounding of their mean.
  play_gradients(rough_gradient);
  expect_near(weights_after("async_average:warmup=6", GetParam(), 6), weights_after("all_reduce", GetParam(), 6), 1e-6);
}

TEST_P(Identities, SilentMethodsAreLonelySgd) {
  play_gradients(exact_gradient);
  const auto lonely = weights_after("local_sgd:every=100", GetParam(), 6);
  for (std::size_t rank = 0; rank < lonely.size(); ++rank) {
    for (std::size_t i = 0; i < lonely[rank].size(); ++i) {
      const auto element = static_cast<std::int64_t>(i);
      float expected = static_cast<float>(element % 7) - 3.0F;
      for (std::int64_t step = 0; step < 6; ++step)
        expected -= 0.125F * exact_gradient(step, static_cast<int>(rank), element, 0);
      EXPECT_EQ(lonely[rank][i], expected);
    }
  }
  // D-PSGD mixes equal weights in step 0 and then not again.
  EXPECT_EQ(weights_after("decentralized:topology=complete,every=100", GetParam(), 6), lonely);
}

INSTANTIATE_TEST_SUITE_P(Worlds, Identities, ::testing::Values(1, 2, 3, 4, 7, 8));

TEST(IdentitiesOfGossip, DifferencesWithTheIdentityCodecAreDPsgdBitForBitOnExactNumbers) {
  // A hypercube of 8 has weights 1/4, so four steps stay exact.
  play_gradients(exact_gradient);
  for (const std::int64_t steps : {1, 2, 4}) {
    EXPECT_EQ(weights_after("low_precision_decentralized:codec=identity,topology=hypercube", 8, steps),
              weights_after("decentralized:topology=hypercube", 8, steps));
  }
}

TEST(IdentitiesOfGossip, DifferencesWithTheIdentityCodecAreDPsgdOnAnyGraph) {
  play_gradients(rough_gradient);
  for (const char* topology : {"ring", "complete", "star", "torus"}) {
    expect_near(weights_after(std::string("low_precision_decentralized:codec=identity,topology=") + topology, 6, 5),
                weights_after(std::string("decentralized:topology=") + topology, 6, 5), 2e-6);
  }
}

TEST(IdentitiesOfGossip, PushSumOnADoublyStochasticGraphIsDPsgdBitForBit) {
  // Rows sum to 1 in single precision too, so push-sum weights stay 1.
  play_gradients(rough_gradient);
  for (const char* topology : {"one_peer_exponential", "exponential", "ring", "one_outside"}) {
    for (const char* mix : {"before", "after"}) {
      const std::string parameters = std::string(":topology=") + topology + ",mix=" + mix;
      EXPECT_EQ(weights_after("sgp" + parameters, 8, 6), weights_after("decentralized" + parameters, 8, 6))
          << parameters;
    }
  }
}

TEST(IdentitiesOfGossip, PushSumAgreesOnTheMeanWhereMixingMovesIt) {
  // Gradients in step 0 alone: z goes to x_0 − γ mean g on all ranks, while Σ x is shared out as 6 to 4.
  Script script;
  script.layers = {6, 9};
  script.initial = [](std::int64_t element) { return static_cast<float>(element); };
  script.gradient = [](std::int64_t step, int rank, std::int64_t element, float weight) {
    return step == 0 ? exact_gradient(step, rank, element, weight) : 0.0F;
  };
  play(script);
  for (const char* mix : {"before", "after"}) {
    const auto weights = weights_after(std::string("sgp:topology=chorded_ring,mix=") + mix, 8, 120);
    for (std::int64_t element = 0; element < 15; ++element) {
      float mean = 0;
      for (int rank = 0; rank < 8; ++rank) mean += exact_gradient(0, rank, element, 0) / 8;
      const float expected = static_cast<float>(element) - 0.125F * mean;
      for (const std::vector<float>& rank : weights)
        EXPECT_NEAR(rank[static_cast<std::size_t>(element)], expected, 2e-3) << mix;
    }
  }
}

TEST(IdentitiesOfGossip, DPsgdOnTheCompleteGraphIsNotDataParallelSgd) {
  // J x − γ g_j(x_j) keeps every rank's last own gradient.
  play_gradients(rough_gradient);
  const auto gossip = weights_after("decentralized:topology=complete", 4, 6);
  EXPECT_NE(gossip[0], gossip[1]);
}

TEST(IdentitiesOfGossip, OnePeerExponentialReachesTheExactMeanAfterLogTwoSteps) {
  Script script;
  script.layers = {6};
  script.gradient = [](std::int64_t step, int rank, std::int64_t element, float weight) {
    return step == 0 ? exact_gradient(step, rank, element, weight) : 0.0F;
  };
  play(script);
  TrainingOptions options = scripted("decentralized:topology=one_peer_exponential", 4);
  const auto rows = evaluations(train_on(threads(2), 8, options));
  EXPECT_GT(rows[3].consensus_distance, 0);
  EXPECT_EQ(rows[4].consensus_distance, 0);
}

TEST(IdentitiesOfOptimizers, EqualReplicasTakeEqualStepsWithAnyOptimizer) {
  // Every rank applies the same mean gradient, so a world of four is one rank with that gradient.
  for (const char* optimizer : {"sgd", "momentum", "nesterov", "adam", "adamw"}) {
    play_gradients(exact_gradient);
    const auto four = weights_after("all_reduce", 4, 5, optimizer);
    play_gradients([](std::int64_t step, int, std::int64_t element, float weight) {
      float sum = 0;
      for (int rank = 0; rank < 4; ++rank) sum += exact_gradient(step, rank, element, weight);
      return sum / 4;
    });
    EXPECT_EQ(four[3], weights_after("all_reduce", 1, 5, optimizer)[0]) << optimizer;
  }
}

}  // namespace
}  // namespace trigram::testing
