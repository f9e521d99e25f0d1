// The thread of a stream that runs its work later, and the moments that events stand for (see cuda_runtime.h).
#pragma once

#include <cuda_runtime_api.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

#include "ptx/runtime/stream_order.hpp"

namespace cuda_on_host {

/// Runs work in order, now and then with a pause before it. What work throws breaks the double, as a fault on a GPU.
class Worker {
 public:
  Worker();
  /// Runs what is left.
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  void order(std::function<void()> work);
  /// Waits until there is nothing left.
  void drain();
  bool idle();

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> work_;
  bool busy_ = false, closed_ = false;
  std::thread thread_;
};

/// One record of an event.
class EventRecord {
 public:
  explicit EventRecord(StreamClock at) : clock(std::move(at)) {}

  /// What has been done when it passes.
  const StreamClock clock;

  void pass();
  bool passed();
  void wait();
  /// When it passed; only once it has.
  std::chrono::steady_clock::time_point time() const { return time_; }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool passed_ = false;
  std::chrono::steady_clock::time_point time_;
};

bool runs_later(cudaStream_t stream);

}  // namespace cuda_on_host
