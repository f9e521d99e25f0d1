// Where simulated ranks wait for one another at no cost in simulated time.
#pragma once

#include <simgrid/s4u.hpp>

#include "backends/sim/engine/simgrid_version.hpp"

namespace trigram::sim {

/// Blocks actors until `expected` of them are here, then lets them go on in the order in which they came, and can be
/// used again. It stands in for SimGrid's own, of which 4.0 and 4.1 end the process by signal 11 where an actor that
/// waits in it is killed.
class Barrier {
 public:
  explicit Barrier(int expected) : expected_(expected) {}

  void wait() {
    if (++here_ < expected_) return sleep();
    here_ = 0;
    // One visit to SimGrid for all: each has the actor's stack leave the cache and come back.
    simgrid::kernel::actor::simcall_answered([this] {
      for (int left = asleep_; left > 0; --left) all_here_->release();
    });
  }

 private:
  /// What is counted is not `here_`: an actor that was killed has come, and nobody wakes it.
  void sleep() {
    struct Counted {
      int& actors;
      explicit Counted(int& count) : actors(++count) {}
      ~Counted() { --actors; }
    } const counted(asleep_);
    all_here_->acquire();
  }

  int expected_;
  int here_ = 0, asleep_ = 0;
  simgrid::s4u::SemaphorePtr all_here_ = simgrid::s4u::Semaphore::create(0);
};

}  // namespace trigram::sim
