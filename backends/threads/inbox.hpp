// Envelopes that a rank has got and not taken.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>
#include <utility>

#include "backends/process/mail.hpp"
#include "backends/threads/wait.hpp"

namespace trigram::threads {

/// Filled by any thread, and emptied by one that serves.
class Inbox {
 public:
  using Arrival = std::pair<int, Envelope>;  ///< with its sender

  void put(const Arrival& arrival) {
    const std::lock_guard lock(mutex_);
    arrived_.push_back(arrival);
    changed_.notify_all();
  }

  Arrival take(const Wait& wait, const std::string& what) {
    std::unique_lock lock(mutex_);
    wait.until(
        changed_, lock, [&] { return !arrived_.empty(); }, [&] { return what; });
    const Arrival first = arrived_.front();
    arrived_.pop_front();
    return first;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Arrival> arrived_;
};

}  // namespace trigram::threads
