// Order of samples, iid or skewed by label.
#include "experiments/workloads/data/batches.hpp"

#include <cmath>
#include <tuple>

#include "core/values/error.hpp"
#include "core/values/random.hpp"
#include "experiments/workloads/data/label_partition.hpp"
#include "experiments/workloads/data/shared_cache.hpp"
#include "experiments/workloads/data/uneven_partition.hpp"

namespace trigram {
namespace {

using Order = std::vector<std::int64_t>;
using Partition = std::vector<Order>;

constexpr int common_stream = 0;

/// One order an epoch, and 128 simulated ranks share it.
std::shared_ptr<const Order> shared_order(std::uint64_t seed, std::int64_t epoch, int stream, std::int64_t count) {
  static SharedCache<std::tuple<std::uint64_t, std::int64_t, int, std::int64_t>, Order> cache;
  return cache.get({seed, epoch, stream, count}, [&] {
    return random_permutation(Philox({.seed = seed, .step = epoch, .rank = stream, .phase = Phase::data}), count);
  });
}

}  // namespace

Batches::Batches(std::span<const std::int32_t> labels, int classes, const Shard& shard, std::int64_t global_batch)
    : seed_(shard.seed),
      stream_(common_stream),
      samples_(static_cast<std::int64_t>(labels.size())),
      step_stride_(global_batch) {
  require(shard.label_skew >= 0 && std::isfinite(shard.label_skew),
          "a label skew of " + number_text(shard.label_skew) + " is no Dirichlet concentration; give 0 (none) or more");
  int parts = shard.world;
  int part = shard.rank;
  if (shard.label_skew > 0) {
    const Partition shards = label_partition(labels, classes, shard.world, shard.label_skew, shard.seed);
    parts = 0;
    for (int rank = 0; rank < shard.world; ++rank) {
      if (rank == shard.rank) part = parts;
      parts += shards[static_cast<std::size_t>(rank)].empty() ? 0 : 1;
    }
    shard_ = shards[static_cast<std::size_t>(shard.rank)];
    stream_ = 1 + shard.rank;
    samples_ = static_cast<std::int64_t>(shard_.size());
  }
  if (samples_ == 0) return;
  local_ = part_count(global_batch, parts, part);
  if (shard.label_skew > 0) {
    step_stride_ = local_;
  } else {
    first_ = part_begin(global_batch, parts, part);
  }
}

Batches::Batches(const Dataset& data, std::int64_t samples, const Shard& shard, std::int64_t global_batch)
    : Batches(std::span(data.train.labels).first(static_cast<std::size_t>(samples)), data.classes, shard,
              global_batch) {
  if (data.train.domains.empty()) return;
  draw_unevenly(std::span(data.train.domains).first(static_cast<std::size_t>(samples)), data, shard, global_batch);
}

void Batches::draw_unevenly(std::span<const std::int32_t> domains, const Dataset& data, const Shard& shard,
                            std::int64_t global_batch) {
  require(shard.label_skew == 0, "'" + data.name + "' says itself what its ranks have; give no label skew beside it");
  require(global_batch >= shard.world, "a global batch of ", global_batch, " samples leaves some of ", shard.world,
          " ranks without any");
  const Partition shards = uneven_partition(domains, data.domains, shard.world, data.power, shard.seed);
  std::vector<double> sizes;
  for (const Order& one : shards) sizes.push_back(static_cast<double>(one.size()));
  const auto rank = static_cast<std::size_t>(shard.rank);
  shard_ = shards[rank];
  samples_ = static_cast<std::int64_t>(shard_.size());
  local_ = step_stride_ = apportioned(global_batch, sizes)[rank];
  first_ = 0;
  stream_ = 1 + shard.rank;
}

std::int64_t Batches::at(std::int64_t position) {
  const std::int64_t epoch = position / samples_;
  if (epoch != epoch_) {
    order_ = shared_order(seed_, epoch, stream_, samples_);
    epoch_ = epoch;
  }
  const std::int64_t index = (*order_)[static_cast<std::size_t>(position % samples_)];
  return shard_.empty() ? index : shard_[static_cast<std::size_t>(index)];
}

std::vector<std::int64_t> Batches::indices(std::int64_t step) {
  std::vector<std::int64_t> batch;
  batch.reserve(static_cast<std::size_t>(local_));
  for (std::int64_t i = 0; i < local_; ++i) batch.push_back(at(step * step_stride_ + first_ + i));
  return batch;
}

}  // namespace trigram
