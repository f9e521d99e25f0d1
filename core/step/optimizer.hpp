// How a gradient changes weights.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/lane/worker.hpp"
#include "core/registry/registry.hpp"
#include "core/step/bucket.hpp"
#include "core/step/state.hpp"

namespace trigram {

/// One fused update per bucket. Its owner, the trainer or an algorithm, sets it up once and has it step the same
/// buckets, or the same parts of them, from then on. State has one entry per `bucket.index`, so that different buckets
/// may be stepped on different lanes at the same time.
class Optimizer {
 public:
  static constexpr const char* registry_kind = "optimizer";
  virtual ~Optimizer() = default;
  /// Allocates state for these buckets, of any indices.
  virtual void setup(Worker& worker, std::span<const Bucket> buckets) = 0;
  /// weights ← step(weights, gradients): along another direction with `bucket.along(direction)`. Called at most once
  /// per step and bucket; `worker` is the lane that it runs on.
  virtual void update(Worker& worker, const Bucket& bucket, double learning_rate) = 0;

  /// What it keeps of a bucket, by name: "velocity"; "first" and "second" moments.
  virtual std::vector<std::string> state_names() const = 0;
  /// One of them, as long as what is stepped of the bucket. Throws Error where it keeps no such state.
  virtual Buffer state(const std::string& name, int bucket) const = 0;
  /// Names all that it keeps from one step to the next, for checkpoints.
  virtual void list_state(State& state) = 0;
};

using Optimizers = Registry<Optimizer>;

/// What a run updates with that names none.
inline constexpr const char* default_optimizer = "sgd";

}  // namespace trigram
