// Domains first, then shares of ranks within each.
#include "experiments/workloads/data/uneven_partition.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/values/error.hpp"
#include "core/values/random.hpp"

namespace trigram {
namespace {

constexpr int uneven_stream = 5;

/// Samples of each group of domains that goes to the same ranks, shuffled.
std::vector<std::vector<std::int64_t>> shuffled_groups(std::span<const std::int32_t> domains, int groups,
                                                       std::uint64_t seed) {
  const Philox stream({.seed = seed, .bucket = uneven_stream, .phase = Phase::data});
  std::vector<std::vector<std::int64_t>> samples(static_cast<std::size_t>(groups));
  for (const std::int64_t i : random_permutation(stream, static_cast<std::int64_t>(domains.size()))) {
    samples[static_cast<std::size_t>(domains[static_cast<std::size_t>(i)] % groups)].push_back(i);
  }
  return samples;
}

}  // namespace

std::vector<std::int64_t> apportioned(std::int64_t total, std::span<const double> weights) {
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  const auto left = static_cast<double>(total - static_cast<std::int64_t>(weights.size()));
  std::vector<std::int64_t> parts;
  std::vector<double> remainders;
  for (const double weight : weights) {
    const double exact = left * weight / sum;
    parts.push_back(1 + static_cast<std::int64_t>(exact));
    remainders.push_back(exact - std::floor(exact));
  }
  std::vector<std::size_t> order(weights.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return remainders[a] > remainders[b]; });
  std::int64_t rest = total - std::accumulate(parts.begin(), parts.end(), std::int64_t{0});
  for (std::size_t i = 0; rest > 0; ++i, --rest) ++parts[order[i % order.size()]];
  return parts;
}

std::vector<std::vector<std::int64_t>> uneven_partition(std::span<const std::int32_t> domains, int count, int ranks,
                                                        double power, std::uint64_t seed) {
  const int groups = std::min(count, ranks);
  const std::vector<std::vector<std::int64_t>> samples = shuffled_groups(domains, groups, seed);
  std::vector<std::vector<std::int64_t>> shards(static_cast<std::size_t>(ranks));
  for (int group = 0; group < groups; ++group) {
    const std::vector<std::int64_t>& of_group = samples[static_cast<std::size_t>(group)];
    std::vector<double> weights;
    for (int rank = group; rank < ranks; rank += groups) weights.push_back(std::pow(rank + 1.0, -power));
    require(of_group.size() >= weights.size(), weights.size(), " ranks share a domain of ", of_group.size(),
            " training samples; give fewer ranks or fewer domains");
    auto begin = of_group.begin();
    int rank = group;
    for (const std::int64_t size : apportioned(static_cast<std::int64_t>(of_group.size()), weights)) {
      shards[static_cast<std::size_t>(rank)].assign(begin, begin + size);
      begin += size;
      rank += groups;
    }
  }
  return shards;
}

}  // namespace trigram
