// A non-blocking all-reduce of one integer, which ranks start while they go on training.
#pragma once

#include <cstdint>

#include "core/step/algorithm.hpp"

namespace trigram {

/// A non-blocking all-reduce of one i32 per rank on the background lane; training goes on meanwhile. Collective: every
/// rank starts the same number of them, in the same order among its background tasks, but each at a step of its own.
/// The outcome is the same on all ranks. To act on it in the same step everywhere, all ranks call `outcome` a fixed
/// number of steps after `start`; it waits only for ranks that are farther behind. A rank that polls `done` learns the
/// outcome at a step of its own. `outcome` throws the errors of the exchange.
class Agreement {
 public:
  /// `op` is sum, min or max. Throws Error for mean.
  explicit Agreement(ReduceOp op);
  /// In the algorithm's `setup`.
  void setup(Worker& worker);
  /// Starts the all-reduce with this rank's number. On the main lane, after the one before was waited for. Throws Error
  /// while one is running.
  void start(Worker& worker, std::int32_t number);
  /// Whether `outcome` would return at once; local, and dependent on timing.
  bool done() const { return pending_.done(); }
  /// Waits for the all-reduce without reading its outcome.
  void wait();
  /// After `wait`: whether all took part in it; false only where the backend goes on without a rank that is gone.
  bool all_there() const { return all_there_; }
  /// The result of the all-reduce that was started last; waits for it, and copies it to the host.
  std::int32_t outcome(Worker& worker);

 private:
  ReduceOp op_;
  OwnedBuffer number_;  ///< one i32
  Pending pending_;
  bool running_ = false;
  bool all_there_ = true;
};

/// Rounds and bytes of one agreement.
Cost agreement_cost(const CostQuery& query);

}  // namespace trigram
