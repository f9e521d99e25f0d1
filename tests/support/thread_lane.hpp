// A long-lived thread that runs bodies one after the other.
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "core/pending.hpp"

namespace trigram {

/// One lane of one rank. The destructor runs what is left, then joins.
class ThreadLane {
 public:
  /// `release` lets blocked bodies go: it is called when a caller that is unwinding an error waits in vain.
  explicit ThreadLane(std::function<void()> release);
  ~ThreadLane();
  ThreadLane(const ThreadLane&) = delete;
  ThreadLane& operator=(const ThreadLane&) = delete;

  Pending launch(std::function<void()> body);

 private:
  struct Task;
  class TaskState;
  void run();

  std::function<void()> release_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<Task>> tasks_;
  bool closing_ = false;
  std::thread thread_;
};

}  // namespace trigram
