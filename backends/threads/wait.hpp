// Waiting for another thread, in a way that notices failures.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>

#include "backends/process/failure.hpp"
#include "backends/threads/ending.hpp"
#include "processes/clock.hpp"

namespace trigram::threads {

/// What ends a rank's wait beside what it waits for; all of it outlives the wait.
struct Wait {
  const Ending& ending;
  Failure& failure;  ///< of the rank that waits
  int rank;
  double seconds;                          ///< that it may last; 0: forever
  std::function<std::string()> operation;  ///< that waits, for error messages

  /// Returns when `done`, which is asked under `lock` whenever `changed` is told. Throws BackendError when another rank
  /// fails or time is over, which says that the operation waited for `what()`; and the rank's first error when another
  /// of its lanes has failed; and Interruption.
  template <class Done, class What>
  void until(std::condition_variable& changed, std::unique_lock<std::mutex>& lock, const Done& done,
             const What& what) const {
    constexpr std::chrono::milliseconds round{10};
    const double begun = seconds_now();
    while (!changed.wait_for(lock, round, done)) {
      const double waited = seconds_now() - begun;
      look(waited);
      if (seconds > 0 && waited >= seconds) give_up(what());
    }
  }

 private:
  void look(double waited) const;
  [[noreturn]] void give_up(const std::string& what) const;
};

}  // namespace trigram::threads
