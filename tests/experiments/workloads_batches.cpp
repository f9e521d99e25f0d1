// Which samples ranks see: the same global batch in any world, epochs without repetition, Dirichlet shards.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/values/error.hpp"
#include "experiments/workloads/data/batches.hpp"
#include "experiments/workloads/data/distributions.hpp"
#include "experiments/workloads/data/label_partition.hpp"
#include "experiments/workloads/data/uneven_partition.hpp"

namespace trigram {
namespace {

std::vector<std::int32_t> labels_of(int samples, int classes) {
  std::vector<std::int32_t> labels;
  for (int i = 0; i < samples; ++i) labels.push_back(i % classes);
  return labels;
}

/// Samples of one step over all ranks, in rank order.
std::vector<std::int64_t> global_batch(const std::vector<std::int32_t>& labels, Shard shard, std::int64_t batch,
                                       std::int64_t step) {
  std::vector<std::int64_t> all;
  for (shard.rank = 0; shard.rank < shard.world; ++shard.rank) {
    const auto own = Batches(labels, 10, shard, batch).indices(step);
    all.insert(all.end(), own.begin(), own.end());
  }
  return all;
}

TEST(Batches, UnionOverRanksIsTheSameInAnyWorld) {
  const auto labels = labels_of(103, 10);
  for (const std::int64_t step : {0, 1, 7, 8, 50}) {  // 103 / 13: batches straddle epochs
    const auto one = global_batch(labels, {.world = 1, .seed = 9}, 13, step);
    EXPECT_EQ(one.size(), 13U);
    for (const int world : {2, 3, 8, 13, 20}) {
      EXPECT_EQ(global_batch(labels, {.world = world, .seed = 9}, 13, step), one) << world << " ranks, step " << step;
    }
  }
}

TEST(Batches, AnEpochSeesEverySampleOnceInAnOrderOfItsOwn) {
  const auto labels = labels_of(60, 10);
  std::vector<std::vector<std::int64_t>> epochs;
  for (int epoch = 0; epoch < 2; ++epoch) {
    std::vector<std::int64_t>& seen = epochs.emplace_back();
    for (int step = 0; step < 5; ++step) {
      const auto batch = global_batch(labels, {.world = 3, .seed = 2}, 12, 5 * epoch + step);
      seen.insert(seen.end(), batch.begin(), batch.end());
    }
    auto sorted = seen;
    std::sort(sorted.begin(), sorted.end());
    std::vector<std::int64_t> every(60);
    std::iota(every.begin(), every.end(), 0);
    EXPECT_EQ(sorted, every);
  }
  EXPECT_NE(epochs[0], epochs[1]);
  EXPECT_NE(global_batch(labels, {.world = 1, .seed = 3}, 60, 0), epochs[0]);
}

TEST(LabelPartition, DealsEverySampleToOneShard) {
  const auto labels = labels_of(1003, 10);
  for (const double skew : {1e-6, 0.05, 1.0, 1e6}) {
    for (const int ranks : {1, 2, 7, 64}) {
      const auto shards = label_partition(labels, 10, ranks, skew, 4);
      ASSERT_EQ(shards.size(), static_cast<std::size_t>(ranks));
      std::vector<std::int64_t> dealt;
      for (const auto& shard : shards) dealt.insert(dealt.end(), shard.begin(), shard.end());
      std::sort(dealt.begin(), dealt.end());
      std::vector<std::int64_t> every(labels.size());
      std::iota(every.begin(), every.end(), 0);
      EXPECT_EQ(dealt, every) << ranks << " ranks, skew " << skew;
    }
  }
}

TEST(LabelPartition, SmallConcentrationsSeparateClassesAndLargeOnesEven) {
  const auto labels = labels_of(8000, 10);
  // In the limit 0 each class has one owner: at most ten of 64 shards hold anything.
  const auto torn = label_partition(labels, 10, 64, 1e-6, 4);
  const auto empty = std::count_if(torn.begin(), torn.end(), [](const auto& shard) { return shard.empty(); });
  EXPECT_GE(empty, 54);
  // A share has deviation √((n−1) / (n²(nα+1))) = 1.7e-4 of a class of 800: every part is 100, give or take one.
  for (const auto& shard : label_partition(labels, 10, 8, 5e5, 4)) {
    std::vector<int> counts(10, 0);
    for (const std::int64_t sample : shard)
      ++counts[static_cast<std::size_t>(labels[static_cast<std::size_t>(sample)])];
    for (const int count : counts) EXPECT_NEAR(count, 100, 3);
  }
}

TEST(LabelPartition, SharesHaveTheVarianceOfTheDirichlet) {
  // Var = (n−1) / (n²(nα+1)) for n ranks; with n = 4, α = 0.5 it is 0.0625. 400 classes give 1,600 shares, whose
  // sample variance has a relative deviation of about √(2/1600)·2; five of them are 0.36.
  constexpr int classes = 400;
  const auto labels = labels_of(classes * 100, classes);
  const auto shards = label_partition(labels, classes, 4, 0.5, 12);
  double sum = 0;
  double squares = 0;
  for (const auto& shard : shards) {
    std::vector<double> share(classes, 0.0);
    for (const std::int64_t sample : shard)
      share[static_cast<std::size_t>(labels[static_cast<std::size_t>(sample)])] += 0.01;
    for (const double s : share) sum += s, squares += s * s;
  }
  const double mean = sum / (4 * classes);
  EXPECT_NEAR(mean, 0.25, 1e-9);
  EXPECT_NEAR(squares / (4 * classes) - mean * mean, 0.0625, 0.0625 * 0.36);
}

TEST(Batches, SkewedRanksDrawFromTheirShardAndShareTheGlobalBatch) {
  const auto labels = labels_of(500, 10);
  const Shard shard{.world = 16, .label_skew = 0.02, .seed = 6};
  const auto shards = label_partition(labels, 10, 16, 0.02, 6);
  std::int64_t total = 0;
  for (int rank = 0; rank < 16; ++rank) {
    Shard own = shard;
    own.rank = rank;
    Batches batches(labels, 10, own, 48);
    const auto& part = shards[static_cast<std::size_t>(rank)];
    EXPECT_EQ(batches.local_batch() == 0, part.empty());
    total += batches.local_batch();
    std::vector<std::int64_t> seen;
    while (seen.size() < part.size()) {
      const auto batch = batches.indices(static_cast<std::int64_t>(seen.size()) / batches.local_batch());
      seen.insert(seen.end(), batch.begin(), batch.end());
    }
    seen.resize(part.size());
    EXPECT_THAT(seen, ::testing::UnorderedElementsAreArray(part));
  }
  EXPECT_EQ(total, 48);
}

TEST(UnevenPartition, SharesFallAsThePowerOfTheRank) {
  // 1 + 1/2 + 1/3 + 1/4 = 25/12: beside one sample each, 2500 samples are 1200, 600, 400 and 300.
  const std::vector<std::int32_t> domains(2504, 0);
  const auto shards = uneven_partition(domains, 1, 4, 1.0, 3);
  std::vector<std::size_t> sizes;
  std::vector<std::int64_t> dealt;
  for (const auto& shard : shards) {
    sizes.push_back(shard.size());
    dealt.insert(dealt.end(), shard.begin(), shard.end());
  }
  EXPECT_THAT(sizes, ::testing::ElementsAre(1201, 601, 401, 301));
  std::sort(dealt.begin(), dealt.end());
  std::vector<std::int64_t> every(domains.size());
  std::iota(every.begin(), every.end(), 0);
  EXPECT_EQ(dealt, every);
  EXPECT_EQ(uneven_partition(domains, 1, 4, 1.0, 3), shards);
  EXPECT_NE(uneven_partition(domains, 1, 4, 1.0, 4), shards);
  EXPECT_THROW(uneven_partition(std::vector<std::int32_t>(3, 0), 1, 4, 0, 3), UsageError);
}

TEST(UnevenPartition, RanksDrawFromTheirDomain) {
  const auto domains = labels_of(600, 3);
  const auto shards = uneven_partition(domains, 3, 6, 0, 3);
  for (std::size_t rank = 0; rank < 6; ++rank) {
    EXPECT_EQ(shards[rank].size(), 100U);
    for (const std::int64_t i : shards[rank]) EXPECT_EQ(static_cast<std::size_t>(i % 3), rank % 3);
  }
  // Two ranks share three domains.
  const auto of_two = uneven_partition(domains, 3, 2, 0, 3);
  for (const std::int64_t i : of_two[1]) EXPECT_EQ(i % 3, 1);
}

TEST(Batches, UnevenRanksTakeTheirShareOfTheGlobalBatchAndOneAtLeast) {
  const auto data = shared_dataset("skewed:of=digits,power=3");
  std::vector<std::int64_t> sizes;
  for (int rank = 0; rank < 8; ++rank) {
    sizes.push_back(Batches(*data, data->train.count(), {.rank = rank, .world = 8}, 64).local_batch());
  }
  EXPECT_EQ(std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0}), 64);
  EXPECT_GE(sizes.back(), 1);
  // The first rank's share is 1 / (1 + 2^-3 + ... + 8^-3) = 0.8368 of what is left beside one each.
  EXPECT_EQ(sizes.front(), 48);
  EXPECT_THROW(Batches(*data, data->train.count(), {.world = 8}, 7), UsageError);
  EXPECT_THROW(Batches(*data, data->train.count(), {.world = 8, .label_skew = 1}, 64), UsageError);
}

TEST(Skewed, DomainsAreTurnedShiftedAndScaled) {
  const auto plain = shared_dataset("digits");
  const auto skewed = shared_dataset("skewed:of=digits,domains=2,rotate=on,shift=0.5,scale=0.25");
  std::vector<int> counts(2, 0);
  for (std::int64_t i = 0; i < plain->train.count(); ++i) {
    const int domain = skewed->train.domains[static_cast<std::size_t>(i)];
    ++counts[static_cast<std::size_t>(domain)];
    const auto at = static_cast<std::size_t>(i * 64);
    // Row 1, column 2 goes to row 2, column 6 by a quarter of a turn.
    const float before = plain->train.features[at + 10];
    const float after = skewed->train.features[at + (domain == 0 ? 10 : 22)];
    ASSERT_FLOAT_EQ(after, domain == 0 ? 0.75F * before - 0.5F : 1.25F * before + 0.5F);
  }
  EXPECT_THAT(counts, ::testing::ElementsAre(719, 719));
  EXPECT_THROW(DataSources::make("skewed:shift=1"), UsageError);
}

TEST(Distributions, NormalAndGammaHaveTheirMoments) {
  constexpr int draws = 40000;
  const Philox stream({.seed = 8});
  double sum = 0;
  double squares = 0;
  for (std::uint64_t i = 0; i < draws; ++i) {
    const double x = normal(stream, i);
    sum += x, squares += x * x;
  }
  // Five deviations of the mean (1/√n) and of the second moment (√(2/n)).
  EXPECT_NEAR(sum / draws, 0, 5 / std::sqrt(draws));
  EXPECT_NEAR(squares / draws, 1, 5 * std::sqrt(2.0 / draws));
  for (const double shape : {0.1, 0.5, 3.0}) {
    double total = 0;
    for (int i = 0; i < draws; ++i) total += std::exp(log_gamma_variate(Philox({.seed = 8, .step = i}), shape));
    // Mean and variance of Gamma(a) are a.
    EXPECT_NEAR(total / draws, shape, 5 * std::sqrt(shape / draws)) << shape;
  }
}

}  // namespace
}  // namespace trigram
