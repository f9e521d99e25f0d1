// Shows the other ranks that this process lives, and notices when one of them does not.
#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "meeting/rendezvous.hpp"

namespace trigram {

/// How soon a death is noticed.
struct HeartbeatTimes {
  double beat = 0.5;     ///< seconds between signs of life, and between looks at the job's failure
  double silence = 6.0;  ///< seconds without a sign of life after which a rank counts as dead
};

/// A thread of the process. Each rank watches the next one on the ring, from its arrival on; whoever notices something
/// publishes it.
class Heartbeat {
 public:
  Heartbeat(std::unique_ptr<Store> store, int rank, int ranks, HeartbeatTimes times);
  ~Heartbeat();
  Heartbeat(const Heartbeat&) = delete;
  Heartbeat& operator=(const Heartbeat&) = delete;

  std::optional<JobFailure> failure() const;
  /// Publishes a failure unless there is one; never throws, also where the store is out of reach.
  void publish(const JobFailure& failure) noexcept;
  /// Ends the thread.
  void stop();

 private:
  void beat_until_stopped();
  void look();
  void watch_neighbour();
  void keep(const JobFailure& failure);

  const std::unique_ptr<Store> store_;
  const int rank_, ranks_;
  const HeartbeatTimes times_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<JobFailure> failure_;
  bool stopped_ = false;
  std::int64_t beats_ = 0;
  Bytes neighbours_sign_;
  double neighbour_silent_since_ = 0;
  double looked_at_ = 0;
  std::thread thread_;
};

}  // namespace trigram
