// The quadratic: optimum, eigenvalues, exact integers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/experiments/workloads_rig.hpp"

namespace trigram {
namespace {

using testing::Rig;

TEST(Quadratic, GradientIsTheObjectivesAndVanishesAtTheOptimum) {
  constexpr int world = 3;
  std::vector<std::unique_ptr<Rig>> ranks;
  for (int rank = 0; rank < world; ++rank) {
    ranks.push_back(std::make_unique<Rig>("quadratic:dimension=10,layers=3,condition=9", Shard{rank, world, 0, 0, 2}));
  }
  Rig& first = *ranks.front();
  const auto mean_gradient = [&] {
    std::vector<double> mean;
    for (auto& rank : ranks) {
      rank->compute(0);
      const auto own = rank->gradients();
      mean.resize(own.size(), 0.0);
      for (std::size_t i = 0; i < own.size(); ++i) mean[i] += own[i] / static_cast<double>(world);
    }
    return mean;
  };
  // f is quadratic: a central difference is exact up to rounding.
  const auto gradient = mean_gradient();
  auto weights = first.weights();
  std::size_t element = 0;
  for (auto& tensor : weights) {
    for (float& w : tensor) {
      w = 0.5F;
      const double above = *first.workload->objective(first.runtime.device(), weights);
      w = -0.5F;
      const double below = *first.workload->objective(first.runtime.device(), weights);
      w = 0;
      EXPECT_NEAR(above - below, gradient[element++], 1e-5);
    }
  }
  // Eigenvalues 1, 3, 9: Newton's step x − A⁻¹ ∇f lands on the optimum, where objective and gradient are 0.
  element = 0;
  const double eigenvalues[] = {1, 3, 9};
  for (std::size_t layer = 0; layer < weights.size(); ++layer) {
    for (float& w : weights[layer]) w = static_cast<float>(-gradient[element++] / eigenvalues[layer]);
  }
  EXPECT_NEAR(*first.workload->objective(first.runtime.device(), weights), 0, 1e-10);
  for (auto& rank : ranks) {
    for (std::size_t i = 0; i < weights.size(); ++i) {
      rank->runtime.device().upload(std::as_bytes(std::span(weights[i])), rank->store->parameters()[i].weights);
    }
  }
  for (const double g : mean_gradient()) EXPECT_NEAR(g, 0, 1e-5);
  EXPECT_TRUE(std::isnan(first.workload->accuracy(first.runtime.device(), weights)));
}

TEST(Quadratic, LossFallsToTheObjectiveOnOneRank) {
  Rig rig("quadratic:condition=4,dimension=20", {.seed = 3});
  EXPECT_NEAR(rig.compute(0), *rig.workload->objective(rig.runtime.device(), rig.weights()), 1e-4);
  for (int step = 0; step < 100; ++step) rig.train(step, 0.4F);
  EXPECT_NEAR(rig.compute(0), 0, 1e-9);
}

TEST(Quadratic, RanksAgreeWithoutHeterogeneityAndDifferWithIt) {
  const auto gradient = [](const std::string& spec, int rank) {
    Rig rig(spec, {rank, 4, 0, 0, 5});
    rig.compute(0);
    return rig.gradients();
  };
  EXPECT_EQ(gradient("quadratic:heterogeneity=0", 0), gradient("quadratic:heterogeneity=0", 3));
  EXPECT_NE(gradient("quadratic", 0), gradient("quadratic", 3));
}

TEST(Quadratic, IntegerGradientsAreWholeNumbers) {
  Rig rig("quadratic:integer=on,noise=0.5,condition=30", {.seed = 4});
  rig.compute(0);
  int nonzero = 0;
  for (const float g : rig.gradients()) {
    EXPECT_EQ(g, std::round(g));
    nonzero += g != 0;
  }
  EXPECT_GT(nonzero, 50);
}

TEST(Quadratic, NoiseHasItsDeviationAndShrinksWithTheBatch) {
  const auto deviation = [](std::int64_t batch, std::int64_t step) {
    const Shard shard{.global_batch = batch, .seed = 6};
    Rig noisy("quadratic:dimension=10000,layers=1,condition=1,noise=2", shard);
    Rig plain("quadratic:dimension=10000,layers=1,condition=1", shard);
    noisy.compute(step);
    plain.compute(step);
    const auto with = noisy.gradients();
    const auto without = plain.gradients();
    double squares = 0;
    for (std::size_t i = 0; i < with.size(); ++i) squares += std::pow(with[i] - without[i], 2);
    return std::sqrt(squares / static_cast<double>(with.size()));
  };
  // A sample deviation of n = 10,000 has a relative deviation of 1/√(2n) = 0.7 %; five of them.
  EXPECT_NEAR(deviation(1, 0), 2, 2 * 0.036);
  EXPECT_NEAR(deviation(16, 0), 0.5, 0.5 * 0.036);
  EXPECT_NE(deviation(1, 0), deviation(1, 1)) << "every step draws anew";
}

TEST(Quadratic, RefusesWhatHasNoMeaning) {
  EXPECT_THROW(Workloads::make("quadratic:dimension=3,layers=4"), UsageError);
  EXPECT_THROW(Workloads::make("quadratic:condition=0.5"), UsageError);
  EXPECT_THROW(Workloads::make("quadratic:layers=1,condition=2"), UsageError);
  EXPECT_THROW(Workloads::make("quadratic:noise=-1"), UsageError);
  EXPECT_THROW(Rig("quadratic", {.label_skew = 1}), UsageError);
  EXPECT_THROW(Rig("quadratic", {.world = 4, .global_batch = 6}), UsageError);
  EXPECT_THROW(Rig("quadratic", {.validation = true}), UsageError);
}

}  // namespace
}  // namespace trigram
