// How a gradient changes weights.
#pragma once

#include <span>

#include "core/bucket.hpp"
#include "core/registry.hpp"
#include "core/worker.hpp"

namespace trigram {

/// One fused update a bucket. State is allocated by bucket index.
class Optimizer {
 public:
  static constexpr const char* registry_kind = "optimizer";
  virtual ~Optimizer() = default;
  virtual void setup(Worker& worker, std::span<Bucket> buckets) = 0;
  /// weights ← step(weights, gradients) with worker.learning_rate; called once a step for every bucket.
  virtual void update(Worker& worker, Bucket& bucket) = 0;
};

using Optimizers = Registry<Optimizer>;

/// What a run updates with that names none.
inline constexpr const char* default_optimizer = "sgd";

}  // namespace trigram
