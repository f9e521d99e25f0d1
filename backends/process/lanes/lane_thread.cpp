#include "backends/process/lanes/lane_thread.hpp"

#include <exception>
#include <future>

namespace trigram {

/// A task and its end.
class LaneThread::Task {
 public:
  explicit Task(std::function<void()> work) : work_(std::move(work)), end_(work_.get_future().share()) {}
  void run() { work_(); }
  const std::shared_future<void>& end() const { return end_; }

 private:
  std::packaged_task<void()> work_;
  std::shared_future<void> end_;
};

/// What Pending holds.
class LaneThread::Handle final : public Pending::State {
 public:
  Handle(std::shared_ptr<Task> task, Failure& failure) : task_(std::move(task)), failure_(failure) {}

  bool done() override { return task_->end().wait_for(std::chrono::seconds(0)) == std::future_status::ready; }

  void wait() override {
    // Waiting while an error unwinds: the peers that the task waits for may never hear from this rank's main lane.
    if (std::uncaught_exceptions() > 0) failure_.release();
    try {
      task_->end().get();
    } catch (...) {
      failure_.deliver();
      throw;
    }
  }

 private:
  std::shared_ptr<Task> task_;
  Failure& failure_;
};

LaneThread::LaneThread(Failure& failure) : failure_(failure), thread_([this] { work(); }) {}

LaneThread::~LaneThread() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

Pending LaneThread::launch(std::function<void()> task) {
  const auto launched = std::make_shared<Task>([this, task = std::move(task)] {
    if (failed_ != nullptr) std::rethrow_exception(failed_);
    try {
      if (failure_.leaving()) failure_.rethrow();
      task();
    } catch (...) {
      failed_ = std::current_exception();
      failure_.report(failed_);
      throw;
    }
  });
  {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(launched);
  }
  changed_.notify_one();
  return Pending(std::make_unique<Handle>(launched, failure_));
}

void LaneThread::work() {
  while (const std::shared_ptr<Task> task = next()) task->run();
}

std::shared_ptr<LaneThread::Task> LaneThread::next() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return closed_ || !tasks_.empty(); });
  if (tasks_.empty()) return nullptr;
  std::shared_ptr<Task> task = std::move(tasks_.front());
  tasks_.pop_front();
  return task;
}

}  // namespace trigram
