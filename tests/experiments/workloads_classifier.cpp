// Classifiers: gradients against finite differences of an independent double-precision loss, shares, and learning.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "experiments/workloads/data/batches.hpp"
#include "experiments/workloads/data/dataset.hpp"
#include "tests/experiments/workloads_rig.hpp"

namespace trigram {
namespace {

using testing::Rig;
using Tensors = std::vector<std::vector<double>>;

Tensors in_double(const Workload::HostWeights& weights) {
  Tensors all;
  for (const auto& tensor : weights) all.emplace_back(tensor.begin(), tensor.end());
  return all;
}

std::vector<std::int64_t> first_batch(const Shard& shard, std::int64_t global_batch) {
  const auto data = shared_dataset("digits");
  return Batches(data->train.labels, data->classes, shard, global_batch).indices(0);
}

/// Mean cross-entropy over samples of the digits, by plain loops in double.
double reference_loss(const Tensors& weights, const std::vector<std::int64_t>& samples) {
  const auto data = shared_dataset("digits");
  double total = 0;
  for (const std::int64_t sample : samples) {
    const float* row = data->train.features.data() + sample * data->features;
    std::vector<double> x(row, row + data->features);
    for (std::size_t l = 0; l < weights.size(); l += 2) {
      std::vector<double> z = weights[l + 1];
      for (std::size_t i = 0; i < x.size(); ++i) {
        for (std::size_t j = 0; j < z.size(); ++j) z[j] += x[i] * weights[l][i * z.size() + j];
      }
      if (l + 2 < weights.size()) {
        for (double& value : z) value = std::max(value, 0.0);
      }
      x = z;
    }
    double sum = 0;
    for (const double logit : x) sum += std::exp(logit);
    total += std::log(sum) - x[static_cast<std::size_t>(data->train.labels[static_cast<std::size_t>(sample)])];
  }
  return total / static_cast<double>(samples.size());
}

std::vector<double> reference_gradient(Tensors weights, const std::vector<std::int64_t>& samples) {
  constexpr double step = 1e-5;
  std::vector<double> gradient;
  for (auto& tensor : weights) {
    for (double& weight : tensor) {
      const double before = weight;
      weight = before + step;
      const double above = reference_loss(weights, samples);
      weight = before - step;
      gradient.push_back((above - reference_loss(weights, samples)) / (2 * step));
      weight = before;
    }
  }
  return gradient;
}

void expect_near(const std::vector<float>& got, const std::vector<double>& wanted) {
  ASSERT_EQ(got.size(), wanted.size());
  double largest = 0;
  for (const double value : wanted) largest = std::max(largest, std::abs(value));
  ASSERT_GT(largest, 1e-3);
  for (std::size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], wanted[i], 1e-5 * (1 + largest)) << "element " << i;
}

class Gradients : public ::testing::TestWithParam<const char*> {};

TEST_P(Gradients, EqualFiniteDifferences) {
  const Shard shard{.global_batch = 12, .seed = 5};
  Rig rig(GetParam(), shard);
  rig.train(0, 0.1F);  // off the initial point, where biases are not zero
  const float loss = rig.compute(0);
  const Tensors weights = in_double(rig.weights());
  const auto samples = first_batch(shard, 12);
  EXPECT_NEAR(loss, reference_loss(weights, samples), 1e-5);
  expect_near(rig.gradients(), reference_gradient(weights, samples));
}

INSTANTIATE_TEST_SUITE_P(Networks, Gradients,
                         ::testing::Values("softmax:data=digits", "mlp:hidden=7", "mlp:hidden=6x5"));

/// The mean over ranks of gradients and losses at the initial weights.
struct Mean {
  std::vector<float> gradient;
  double loss = 0;
  std::int64_t samples = 0;
  int empty = 0;
};

Mean mean_over_ranks(const std::string& spec, Shard shard) {
  Mean mean;
  for (shard.rank = 0; shard.rank < shard.world; ++shard.rank) {
    Rig rig(spec, shard);
    mean.loss += static_cast<double>(rig.compute(0)) / shard.world;
    const auto gradient = rig.gradients();
    mean.gradient.resize(gradient.size(), 0.0F);
    for (std::size_t i = 0; i < gradient.size(); ++i) mean.gradient[i] += gradient[i] / static_cast<float>(shard.world);
    mean.samples += rig.workload->local_batch();
    if (rig.workload->local_batch() > 0) continue;
    ++mean.empty;
    EXPECT_THAT(gradient, ::testing::Each(0.0F));
    EXPECT_EQ(rig.host(rig.workload->loss()).front(), 0.0F);
  }
  return mean;
}

TEST(Shares, MeanOverRanksIsTheGlobalBatchWhateverTheWorld) {
  const Mean one = mean_over_ranks("softmax", {.world = 1, .global_batch = 30, .seed = 3});
  for (const int world : {2, 4, 7, 33}) {
    const Mean many = mean_over_ranks("softmax", {.world = world, .global_batch = 30, .seed = 3});
    EXPECT_EQ(many.samples, 30);
    EXPECT_EQ(many.empty, std::max(0, world - 30));
    EXPECT_NEAR(many.loss, one.loss, 1e-5);
    for (std::size_t i = 0; i < one.gradient.size(); ++i) ASSERT_NEAR(many.gradient[i], one.gradient[i], 1e-5);
  }
}

TEST(Shares, EmptyShardsWeighNothing) {
  Shard shard{.world = 24, .global_batch = 40, .label_skew = 0.01, .seed = 1};
  const Mean mean = mean_over_ranks("softmax", shard);
  EXPECT_EQ(mean.samples, 40);
  EXPECT_GT(mean.empty, 0);
  std::vector<std::int64_t> used;
  for (shard.rank = 0; shard.rank < shard.world; ++shard.rank) {
    const auto own = first_batch(shard, 40);
    used.insert(used.end(), own.begin(), own.end());
  }
  const Tensors weights = in_double(Rig("softmax", {.seed = 1}).weights());
  EXPECT_NEAR(mean.loss, reference_loss(weights, used), 1e-5);
  expect_near(mean.gradient, reference_gradient(weights, used));
}

TEST(Classifier, StartsEqualOnAllRanksAndDiffersBySeed) {
  const auto weights = [](int rank, std::uint64_t seed) { return Rig("mlp", {rank, 4, 0, 0, seed}).weights(); };
  EXPECT_EQ(weights(0, 7), weights(3, 7));
  EXPECT_NE(weights(0, 7), weights(0, 8));
}

TEST(Classifier, LearnsDigits) {
  for (const char* spec : {"softmax:batch=64", "mlp:hidden=32,batch=64"}) {
    Rig rig(spec, {.seed = 11});
    const double before = *rig.workload->objective(rig.runtime.device(), rig.weights());
    for (int step = 0; step < 200; ++step) rig.train(step, 0.1F);
    EXPECT_GT(rig.workload->accuracy(rig.runtime.device(), rig.weights()), 0.9) << spec;
    EXPECT_LT(*rig.workload->objective(rig.runtime.device(), rig.weights()), before / 5) << spec;
  }
}

TEST(Classifier, ScoresLikeTheReferenceAndSpendsNoTime) {
  Rig rig("softmax:batch=8,score_samples=50");
  std::vector<std::int64_t> samples(50);
  for (std::size_t i = 0; i < samples.size(); ++i) samples[i] = static_cast<std::int64_t>(i);
  EXPECT_NEAR(*rig.workload->objective(rig.runtime.device(), rig.weights()),
              reference_loss(in_double(rig.weights()), samples), 1e-5);
  rig.workload->accuracy(rig.runtime.device(), rig.weights());
  EXPECT_EQ(rig.runtime.device().work.flops, 0);
  rig.compute(0);
  // Forward 2·8·64·10 and backward as much, beside the element-wise operations.
  EXPECT_GT(rig.runtime.device().work.flops, 2 * 2 * 8 * 64 * 10);
}

TEST(Classifier, DivergedWeightsScoreNothing) {
  Rig rig("softmax");
  auto weights = rig.weights();
  weights[0][3] = std::nanf("");
  EXPECT_TRUE(std::isnan(*rig.workload->objective(rig.runtime.device(), weights)));
  EXPECT_EQ(rig.workload->accuracy(rig.runtime.device(), weights), 0.0);
}

TEST(Classifier, ValidationHoldsOutTheLastSixth) {
  const auto data = shared_dataset("digits");
  const std::int64_t kept = 1438 - 1438 / 6;
  Rig rig("softmax:batch=1199", {.validation = true});
  ASSERT_EQ(kept, 1199);
  std::vector<std::int64_t> held(1438 - 1199);
  for (std::size_t i = 0; i < held.size(); ++i) held[i] = 1199 + static_cast<std::int64_t>(i);
  EXPECT_NEAR(*rig.workload->objective(rig.runtime.device(), rig.weights()),
              reference_loss(in_double(rig.weights()), held), 1e-5);
  std::vector<std::int64_t> trained(1199);
  for (std::size_t i = 0; i < trained.size(); ++i) trained[i] = static_cast<std::int64_t>(i);
  EXPECT_NEAR(rig.compute(0), reference_loss(in_double(rig.weights()), trained), 1e-4);
}

TEST(Classifier, RefusesWhatCannotBe) {
  EXPECT_THROW(Workloads::make("mlp:hidden=64x"), UsageError);
  EXPECT_THROW(Workloads::make("mlp:hidden=0"), UsageError);
  EXPECT_THROW(Workloads::make("mlp:hidden=a"), UsageError);
  EXPECT_THROW(Workloads::make("softmax:batch=0"), UsageError);
  EXPECT_THROW(Rig("softmax:data=nothing"), UsageError);
  EXPECT_THROW(Rig("softmax", {.global_batch = -1}), UsageError);
  EXPECT_THROW(Rig("softmax", {.label_skew = -0.5}), UsageError);
}

TEST(Classifier, NamesItsShape) {
  EXPECT_EQ(Rig("mlp:hidden=32").workload->description(), "mlp 64-32-10 on digits");
  EXPECT_EQ(Rig("softmax").workload->description(), "softmax 64-10 on digits");
}

}  // namespace
}  // namespace trigram
