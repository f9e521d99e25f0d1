// The thread of one lane: runs tasks in the order in which they were launched.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "backends/process/failure.hpp"
#include "core/lane/pending.hpp"

namespace trigram {

/// Lives as long as its lane. After a task that failed none runs: the later ones fail with its error. The destructor
/// lets what was launched end first.
class LaneThread {
 public:
  explicit LaneThread(Failure& failure);
  ~LaneThread();
  LaneThread(const LaneThread&) = delete;
  LaneThread& operator=(const LaneThread&) = delete;

  Pending launch(std::function<void()> task);

 private:
  class Task;
  class Handle;
  void work();
  std::shared_ptr<Task> next();

  Failure& failure_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<Task>> tasks_;
  std::exception_ptr failed_;  ///< of the first task that failed; for the thread alone
  bool closed_ = false;
  std::thread thread_;
};

}  // namespace trigram
