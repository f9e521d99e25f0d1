// Which training samples each rank sees in each step.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/step/workload.hpp"
#include "experiments/workloads/data/dataset.hpp"

namespace trigram {

/// Draws the batches of one rank. Independent and identically distributed: sample order is one permutation an epoch,
/// keyed by (seed, epoch); step s takes the next `global_batch` of it, the same samples whatever the world size, and
/// rank r its even part. With label skew the rank draws from its own shard (see label_partition), one permutation of
/// the shard after the other, and the global batch is cut evenly over the ranks whose shard is not empty.
class Batches {
 public:
  /// `labels` are those of the training samples, with classes 0 … classes − 1. Throws UsageError for a negative skew.
  Batches(std::span<const std::int32_t> labels, int classes, const Shard& shard, std::int64_t global_batch);
  /// Of the first `samples` training samples. Where the data set is skewed (uneven_partition) rank r draws from its
  /// shard, and its part of the global batch is its shard's share of the samples, at least one: means of gradients
  /// weigh each sample alike, so a rank by its shard; means of weights count ranks alike, but a rank's steps are as
  /// long as its share times the ranks. Throws UsageError for a label skew beside that, and for fewer samples a step
  /// than ranks.
  Batches(const Dataset& data, std::int64_t samples, const Shard& shard, std::int64_t global_batch);

  std::int64_t local_batch() const { return local_; }
  /// Indices of this rank's samples in `step`.
  std::vector<std::int64_t> indices(std::int64_t step);

 private:
  void draw_unevenly(std::span<const std::int32_t> domains, const Dataset& data, const Shard& shard,
                     std::int64_t global_batch);
  std::int64_t at(std::int64_t position);

  std::uint64_t seed_;
  int stream_;                       ///< ranks of one stream share permutations
  std::vector<std::int64_t> shard_;  ///< own samples under skew; empty: all samples
  std::int64_t samples_;
  std::int64_t step_stride_;  ///< positions that one step takes of the stream
  std::int64_t first_ = 0;    ///< where this rank begins in the step's part
  std::int64_t local_ = 0;
  std::int64_t epoch_ = -1;
  std::shared_ptr<const std::vector<std::int64_t>> order_;
};

}  // namespace trigram
