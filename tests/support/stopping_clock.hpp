// A clock that several threads can stop while something out of band happens.
#pragma once

#include <chrono>
#include <mutex>

namespace trigram {

/// Seconds since construction, without those during which somebody had it stopped.
class StoppingClock {
 public:
  double now() const {
    const std::lock_guard lock(mutex_);
    return std::chrono::duration<double>((stops_ > 0 ? stopped_at_ : Clock::now()) - begin_).count();
  }

  void stop() {
    const std::lock_guard lock(mutex_);
    if (stops_++ == 0) stopped_at_ = Clock::now();
  }

  void resume() {
    const std::lock_guard lock(mutex_);
    if (--stops_ == 0) begin_ += Clock::now() - stopped_at_;
  }

 private:
  using Clock = std::chrono::steady_clock;
  mutable std::mutex mutex_;
  Clock::time_point begin_ = Clock::now();
  Clock::time_point stopped_at_;
  int stops_ = 0;
};

}  // namespace trigram
