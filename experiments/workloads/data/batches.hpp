// Which training samples each rank sees in each step.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/workload.hpp"

namespace trigram {

/// Draws the batches of one rank. Independent and identically distributed: sample order is one permutation an epoch,
/// keyed by (seed, epoch); step s takes the next `global_batch` of it, the same samples whatever the world size, and
/// rank r its even part. With label skew the rank draws from its own shard (see label_partition), one permutation of
/// the shard after the other, and the global batch is cut evenly over the ranks whose shard is not empty.
class Batches {
 public:
  /// `labels` are those of the training samples, with classes 0 … classes − 1. Throws UsageError for a negative skew.
  Batches(std::span<const std::int32_t> labels, int classes, const Shard& shard, std::int64_t global_batch);

  std::int64_t local_batch() const { return local_; }
  /// Indices of this rank's samples in `step`.
  std::vector<std::int64_t> indices(std::int64_t step);

 private:
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
