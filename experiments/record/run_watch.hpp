// Messages to the user of a long run: what it will take, from its first seconds, and how far it is in a
// step.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "core/lane/worker.hpp"

namespace trigram {

/// How far a run is, as its rank 0 sees it.
struct HowFar {
  double seconds = 0;         ///< of this machine, since its first step began
  double steps = 0;           ///< that are done since, with the part of the one that is under way
  std::int64_t left = 0;      ///< steps to do since then, the done ones too
  std::int64_t messages = 0;  ///< that a simulation has timed since
  double memory = 0;          ///< bytes of this process
};

/// "200 steps will take about 48 min, about 1.2e+06 messages each, 8.3e+04 simulated a second; 1.2GB of memory so
/// far".
std::string expectation(const HowFar& now);
/// Whether that is worth saying: of a run of which some seconds are seen, and which is expected to take longer than
/// somebody waits without asking.
bool is_long(const HowFar& now);

/// A thread beside rank 0 that says on standard error, where a run lasts longer than some seconds, what to expect, and
/// then from time to time how far a long step is.
class RunWatch {
 public:
  struct Said {
    std::int64_t steps = 0;                             ///< of the whole run
    std::function<double(std::int64_t step)> bytes_of;  ///< that rank 0 sends in a step
    std::string hint;                                   ///< for a run of minutes; empty: none
  };
  /// `done` are the steps so far, which others count.
  RunWatch(RankRuntime& runtime, const std::atomic<std::int64_t>& done, Said said);
  ~RunWatch();
  RunWatch(const RunWatch&) = delete;
  RunWatch& operator=(const RunWatch&) = delete;

 private:
  void watch();
  void look();
  HowFar how_far();
  std::string so_far() const;
  double bytes_sent() const;
  void warn_of_memory(double taken);

  RankRuntime& runtime_;
  const std::atomic<std::int64_t>& done_;
  Said said_;
  const std::int64_t first_;
  const std::int64_t messages_before_;
  const double begin_;
  std::int64_t in_step_ = 0;  ///< the step that was seen last
  double bytes_before_ = 0;   ///< sent when it was first seen
  double bytes_of_step_ = 0;
  bool announced_ = false;
  bool memory_warned_ = false;
  double next_line_ = 0;  ///< seconds after which a step that still lasts is spoken of
  std::int64_t spoken_of_ = -1;

  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;
  std::thread thread_;
};

}  // namespace trigram
