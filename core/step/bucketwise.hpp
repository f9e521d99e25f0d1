// The two ordinary shapes of an algorithm: exchange each bucket's gradients before the update, or its weights after it.
#pragma once

#include <string>
#include <type_traits>
#include <vector>

#include "core/step/algorithm.hpp"

namespace trigram {

/// What was started for each bucket and not yet waited for.
class PendingBuckets {
 public:
  /// Starts `task` on the bucket's lane.
  void start(Worker& worker, const Bucket& bucket, const Worker::Task& task);
  /// Waits for all, in the order of their start.
  void wait();

 private:
  std::vector<Pending> pending_;
};

/// Exchanges a bucket's gradients as soon as they are complete, overlapped with the rest of backward; the update waits.
class GradientMethod : public Algorithm {
 public:
  void gradients_ready(Worker& worker, Bucket& bucket) final;
  void before_update(Worker& worker) final;

 protected:
  /// Turns this rank's gradient into the one to apply; runs on the bucket's lane.
  virtual void exchange(Worker& lane, Bucket& bucket) = 0;

 private:
  PendingBuckets pending_;
};

/// Updates a bucket on this rank as soon as its gradients are complete and exchanges its weights, overlapped with the
/// rest of backward; the step ends when all weights are whole.
class WeightMethod : public Algorithm {
 public:
  bool local_updates() const final { return true; }
  bool reads_gradients() const override { return false; }
  void after_update(Worker& worker, Bucket& bucket) final;
  void after_step(Worker& worker) final;

 protected:
  /// Whether this step exchanges at all; the same on every rank.
  virtual bool communicates(std::int64_t step) const = 0;
  /// Turns this rank's weights into the mixed ones; runs on the bucket's lane.
  virtual void exchange(Worker& lane, Bucket& bucket) = 0;

 private:
  PendingBuckets pending_;
};

/// Σ over buckets of `one`, which takes a bucket's Shape, or its BucketLayout where tensors matter.
template <class BucketCost>
Cost sum_over_buckets(const CostQuery& query, const BucketCost& one) {
  Cost total;
  for (const BucketLayout& bucket : query.buckets) {
    if constexpr (std::is_invocable_v<BucketCost, const BucketLayout&>) {
      total += one(bucket);
    } else {
      total += one(bucket.shape);
    }
  }
  return total;
}

/// "every=k" as algorithms read it: steps between exchanges. Throws UsageError unless positive.
std::int64_t read_every(Params& params, std::int64_t fallback);

/// "mix=before" or "mix=after" as decentralized algorithms read it: when weights are mixed, seen from the update.
/// Throws UsageError for anything else.
std::string read_mix(Params& params, const char* fallback);

}  // namespace trigram
