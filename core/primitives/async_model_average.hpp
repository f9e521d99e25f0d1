// The algorithms that average models in the background; they differ in what travels.
#pragma once

#include "core/primitives/background.hpp"
#include "core/step/bucketwise.hpp"

namespace trigram {

/// Local steps, while the background lane averages snapshots of all weights; the first ones may average gradients
/// instead. It records `staleness`: the steps that a rank has made since others last learned of any, 0 in the warm-up.
/// Reads `every` and `warmup`.
class AsyncModelAverage : public Algorithm {
 public:
  explicit AsyncModelAverage(Params& params);

  bool deterministic() const final { return false; }
  /// In the warm-up all wait for all.
  bool bears_absence() const final { return warmup_ == 0; }
  bool reads_gradients() const final { return warmup_ > 0; }
  /// Of one averaging; how many there are is up to the clock.
  Cost cost(const CostQuery& query) const final;

  void gradients_ready(Worker& worker, Bucket& bucket) final;
  void before_update(Worker&) final { warmup_pending_.wait(); }
  void after_step(Worker& worker) final;
  /// Takes part in averagings until every rank wants to stop; after the last one all weights are equal, unless ranks
  /// have given up.
  void quiesce(Worker& worker) final;
  void finish(Worker& worker) final { quiesce(worker); }
  void list_state(State& state) final;

 protected:
  virtual Cost averaging_cost(const CostQuery& query) const = 0;
  BackgroundAverage& average() { return average_; }  ///< to be set up

 private:
  std::int64_t every_;
  std::int64_t warmup_;
  std::int64_t shared_ = -1;    ///< the last step whose weights are in an average that was merged
  std::int64_t snapshot_ = -1;  ///< the one of the averaging that was started last
  BackgroundAverage average_;
  PendingBuckets warmup_pending_;
};

}  // namespace trigram
