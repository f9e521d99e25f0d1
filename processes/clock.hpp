// Real time: now, and the clock of real backends, which stops during evaluation.
#pragma once

#include <chrono>
#include <mutex>

namespace trigram {

/// Seconds on a clock that only goes forward, from whenever; to be subtracted.
inline double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// A monotonic clock that can be stopped: seconds that training has taken, without those spent on evaluation. Any
/// thread may read it.
class Clock {
 public:
  void restart() {
    const std::lock_guard lock(mutex_);
    begin_ = Steady::now();
    stopped_for_ = {};
  }

  double now() const {
    const std::lock_guard lock(mutex_);
    return std::chrono::duration<double>((stopped_ ? stop_ : Steady::now()) - begin_).count();
  }

  /// Seconds that passed while the clock stood still, since it was restarted; a stop that still lasts is not in them.
  double stopped_seconds() const {
    const std::lock_guard lock(mutex_);
    return std::chrono::duration<double>(stopped_for_).count();
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
    const Steady::duration stopped_for = Steady::now() - stop_;
    begin_ += stopped_for;
    stopped_for_ += stopped_for;
    stopped_ = false;
  }

  mutable std::mutex mutex_;
  Steady::time_point begin_ = Steady::now();
  Steady::time_point stop_;
  Steady::duration stopped_for_{};
  bool stopped_ = false;
};

}  // namespace trigram
