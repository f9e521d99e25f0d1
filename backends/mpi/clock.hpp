// Seconds that training has taken, without those spent on evaluation.
#pragma once

#include <chrono>
#include <mutex>

namespace trigram::mpi {

/// A monotonic clock that can be stopped; any thread may read it.
class Clock {
 public:
  void restart() {
    const std::lock_guard lock(mutex_);
    begin_ = Steady::now();
  }

  double now() const {
    const std::lock_guard lock(mutex_);
    return std::chrono::duration<double>((stopped_ ? stop_ : Steady::now()) - begin_).count();
  }

  /// Stops the clock while it lives; not nested.
  class Stop {
   public:
    explicit Stop(Clock& clock) : clock_(clock) { clock_.stop(); }
    ~Stop() { clock_.resume(); }
    Stop(const Stop&) = delete;
    Stop& operator=(const Stop&) = delete;

   private:
    Clock& clock_;
  };

 private:
  using Steady = std::chrono::steady_clock;

  void stop() {
    const std::lock_guard lock(mutex_);
    stop_ = Steady::now();
    stopped_ = true;
  }

  void resume() {
    const std::lock_guard lock(mutex_);
    begin_ += Steady::now() - stop_;
    stopped_ = false;
  }

  mutable std::mutex mutex_;
  Steady::time_point begin_ = Steady::now();
  Steady::time_point stop_;
  bool stopped_ = false;
};

}  // namespace trigram::mpi
