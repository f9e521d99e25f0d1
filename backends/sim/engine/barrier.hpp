// Where simulated ranks wait for one another at no cost in simulated time.
#pragma once

#include <limits>
#include <simgrid/s4u.hpp>

#include "backends/sim/engine/simgrid_version.hpp"

namespace trigram::sim {

/// Blocks actors until `expected` of them are here, then lets them go on in the order in which they came, and can be
/// used again. It stands in for SimGrid's own, of which 4.0 and 4.1 end the process by signal 11 where an actor that
/// waits in it is killed.
class Barrier {
 public:
  explicit Barrier(int expected) : expected_(expected) {}

  void wait() { wait_until(std::numeric_limits<double>::infinity()); }
  /// The same until that second: false where not all have come by then. It is of no use from then on.
  bool wait_until(double second) {
    if (++here_ < expected_) return sleep(second);
    release();
    return true;
  }
  /// One of them is gone, who has come or not.
  void expect_one_less(bool was_here) {
    --expected_;
    if (was_here) --here_;
    if (here_ > 0 && here_ == expected_) release();
  }

 private:
  void release() {
    here_ = 0;
    // One visit to SimGrid for all: each has the actor's stack leave the cache and come back.
    simgrid::kernel::actor::simcall_answered([this] {
      for (int left = asleep_; left > 0; --left) all_here_->release();
    });
  }

  /// What is counted is not `here_`: an actor that was killed has come, and nobody wakes it.
  bool sleep(double second) {
    struct Counted {
      int& actors;
      explicit Counted(int& count) : actors(++count) {}
      ~Counted() { --actors; }
    } const counted(asleep_);
    return acquire_until(all_here_, second);
  }

  int expected_;
  int here_ = 0, asleep_ = 0;
  simgrid::s4u::SemaphorePtr all_here_ = simgrid::s4u::Semaphore::create(0);
};

}  // namespace trigram::sim
