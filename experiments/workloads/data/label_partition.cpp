// Dirichlet partitions of labelled samples.
#include "experiments/workloads/data/label_partition.hpp"

#include <algorithm>
#include <cmath>

#include "core/values/random.hpp"
#include "experiments/workloads/data/distributions.hpp"

namespace trigram {
namespace {

constexpr int proportion_stream = 1;
constexpr int shuffle_stream = 2;

/// A point of Dirichlet(concentration, …): gamma numbers over their sum, in logarithms, since all of them may
/// underflow.
std::vector<double> dirichlet(int ranks, double concentration, std::uint64_t seed, int label) {
  std::vector<double> share(static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank) {
    const Key key{.seed = seed, .step = label, .rank = rank, .bucket = proportion_stream, .phase = Phase::data};
    share[static_cast<std::size_t>(rank)] = log_gamma_variate(Philox(key), concentration);
  }
  const double largest = *std::max_element(share.begin(), share.end());
  double sum = 0;
  for (double& value : share) sum += value = std::exp(value - largest);
  for (double& value : share) value /= sum;
  return share;
}

std::vector<std::int64_t> shuffled(const std::vector<std::int64_t>& samples, std::uint64_t seed, int label) {
  const Key key{.seed = seed, .step = label, .bucket = shuffle_stream, .phase = Phase::data};
  std::vector<std::int64_t> result;
  result.reserve(samples.size());
  for (const std::int64_t i : random_permutation(Philox(key), static_cast<std::int64_t>(samples.size()))) {
    result.push_back(samples[static_cast<std::size_t>(i)]);
  }
  return result;
}

}  // namespace

std::vector<std::vector<std::int64_t>> label_partition(std::span<const std::int32_t> labels, int classes, int ranks,
                                                       double concentration, std::uint64_t seed) {
  std::vector<std::vector<std::int64_t>> by_class(static_cast<std::size_t>(classes));
  for (std::size_t i = 0; i < labels.size(); ++i) {
    by_class[static_cast<std::size_t>(labels[i])].push_back(static_cast<std::int64_t>(i));
  }
  std::vector<std::vector<std::int64_t>> shards(static_cast<std::size_t>(ranks));
  for (int label = 0; label < classes; ++label) {
    const std::vector<std::int64_t> samples = shuffled(by_class[static_cast<std::size_t>(label)], seed, label);
    const std::vector<double> share = dirichlet(ranks, concentration, seed, label);
    double cumulative = 0;
    std::size_t begin = 0;
    for (std::size_t rank = 0; rank < shards.size(); ++rank) {
      cumulative += share[rank];
      const bool last = rank + 1 == shards.size();
      const auto cut = static_cast<std::size_t>(std::lround(cumulative * static_cast<double>(samples.size())));
      const std::size_t end = last ? samples.size() : std::min(std::max(begin, cut), samples.size());
      shards[rank].insert(shards[rank].end(), samples.begin() + static_cast<std::ptrdiff_t>(begin),
                          samples.begin() + static_cast<std::ptrdiff_t>(end));
      begin = end;
    }
  }
  return shards;
}

}  // namespace trigram
