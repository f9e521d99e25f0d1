// What has arrived of what nobody had an appointment for.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace trigram::torch {

/// What comes first of every request, as integers of 64 bits.
struct Envelope {
  static constexpr std::int64_t leaving = -1;  ///< in place of a lane: its sender asks nothing more

  std::int64_t lane = leaving;
  std::int64_t subject = 0;
  std::int64_t dtype = 0, count = 0, modelled_count = 0;  ///< of the request's bytes
  std::int64_t reply_bytes = 0;
};

/// Filled by threads that hear one rank each, and emptied by one that serves.
class Arrivals {
 public:
  struct Arrival {
    int from;
    Envelope envelope;
  };

  /// Of `askers`, ranks from which something may come.
  explicit Arrivals(std::set<int> askers) : askers_(std::move(askers)) {}

  /// Anything but a goodbye.
  void put(const Arrival& arrival);
  /// That rank asks nothing more.
  void left(int asker);
  /// Nothing more can be heard.
  void fail(std::exception_ptr error);
  /// From now on `take` waits no longer than so many seconds for each arrival; 0: forever, as before.
  void end_within(double seconds);

  /// The next one; nothing once all have left. Throws what `fail` was given, and BackendError where time is over, with
  /// `operation` and a rank that has not left.
  std::optional<Arrival> take(const std::string& operation);

 private:
  void wait(std::unique_lock<std::mutex>& lock, const std::string& operation);

  std::set<int> askers_;  ///< that have not left
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Arrival> arrived_;
  std::exception_ptr failed_;
  double patience_ = 0;
  double last_ = 0;  ///< by seconds_now: when something came, or patience began
};

}  // namespace trigram::torch
