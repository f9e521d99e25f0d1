// Averaging of models by the background lane, while ranks go on training.
#pragma once

#include <span>
#include <vector>

#include "core/algorithm.hpp"

namespace trigram {

/// C_FP_S of snapshots, one averaging after the other on the background lane. What a rank learned meanwhile is kept:
/// x ← (x − own snapshot) + mean of snapshots, so the mean over ranks never moves. Each averaging also agrees whether
/// every rank wants to stop, so that ranks which have finished go on taking part until all have.
class BackgroundAverage {
 public:
  void setup(Worker& worker, std::span<Bucket> buckets);
  /// Takes a snapshot of all weights and starts averaging it. Every rank starts the same number of averagings.
  void start(Worker& worker, bool stop);
  bool running() const { return running_; }
  /// Whether `merge` would not wait; local, and up to the clock.
  bool done() const { return averaging_.done(); }
  /// Waits for the averaging and merges it.
  void merge(Worker& worker);
  /// Whether every rank asked to stop in the averaging merged last. Looks at the device from the host.
  bool everyone_stopped(Worker& worker) const;

 private:
  std::span<Bucket> buckets_;
  OwnedBuffer stop_;  ///< one i32
  std::vector<OwnedBuffer> snapshots_;
  std::vector<OwnedBuffer> means_;
  Pending averaging_;
  bool running_ = false;
};

/// Rounds and bytes of one averaging.
Cost background_average_cost(const CostQuery& query);

}  // namespace trigram
