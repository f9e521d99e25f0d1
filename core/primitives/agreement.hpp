// A number that all ranks agree on while they go on training.
#pragma once

#include <cstdint>

#include "core/step/algorithm.hpp"

namespace trigram {

/// An all-reduce of one whole number a rank on the background lane: nobody stops to ask, and nobody is asked to stop.
/// Every rank starts as many, in one order with its other bodies of that lane, though at steps of its own; each
/// outcome is the same on all. Read at a step that all know beforehand, as two after its start, it decides for all at
/// the same step, and `outcome` waits only for ranks that are farther behind. Read as soon as `done`, it is there at
/// different steps of different ranks. What ranks agree on does not depend on time, then; when they know it does.
/// Failures are those of an exchange: `outcome` throws them.
class Agreement {
 public:
  /// Of `mean` there is none: whole numbers are added, or the least or largest of them is taken. Throws Error.
  explicit Agreement(ReduceOp op);
  /// In the algorithm's `setup`.
  void setup(Worker& worker);
  /// This rank's number. On the main lane, after the one before was waited for. Throws Error while one is under way.
  void start(Worker& worker, std::int32_t number);
  /// Whether `outcome` would not wait; this rank's view, up to the clock.
  bool done() const { return pending_.done(); }
  /// Ends what `start` began, for whoever needs no outcome yet.
  void wait();
  /// What all agreed on in the agreement that was started last; waits for it. Looks at the device from the host.
  std::int32_t outcome(Worker& worker);

 private:
  ReduceOp op_;
  OwnedBuffer number_;  ///< one i32
  Pending pending_;
  bool running_ = false;
};

/// Rounds and bytes of one agreement.
Cost agreement_cost(const CostQuery& query);

}  // namespace trigram
