// Envelopes that have arrived and wait to be taken.
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <string>
#include <utility>

#include "backends/process/mail.hpp"

namespace trigram::torch {

/// Filled by threads that hear one rank each, and emptied by one that serves.
class Arrivals {
 public:
  using Arrival = std::pair<int, Envelope>;  ///< with its sender

  void put(const Arrival& arrival);
  /// Nothing more can be heard.
  void fail(std::exception_ptr error);

  /// The next one; waits for it at most `seconds`, 0: forever. Throws what `fail` was given, and BackendError where
  /// time is over, which says that `operation` waited for `what`.
  Arrival take(double seconds, const std::string& operation, const std::string& what);

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Arrival> arrived_;
  std::exception_ptr failed_;
};

}  // namespace trigram::torch
