// A long-lived thread that runs bodies one after the other.
#include "tests/support/thread_lane.hpp"

#include <chrono>
#include <utility>

namespace trigram {

struct ThreadLane::Task {
  std::function<void()> body;
  std::mutex mutex;
  std::condition_variable ended;
  bool done = false;
  std::exception_ptr error;

  /// Runs unless an earlier body of the lane has failed; then this one has failed too.
  void run(std::exception_ptr& failed) {
    try {
      if (failed == nullptr) body();
    } catch (...) {
      failed = std::current_exception();
    }
    body = nullptr;  // what it captured is gone before anybody continues
    const std::lock_guard lock(mutex);
    error = failed;
    done = true;
    ended.notify_all();
  }
};

class ThreadLane::TaskState final : public Pending::State {
 public:
  TaskState(std::shared_ptr<Task> task, std::function<void()> release)
      : task_(std::move(task)), release_(std::move(release)) {}

  bool done() override {
    const std::lock_guard lock(task_->mutex);
    return task_->done;
  }

  void wait() override {
    std::unique_lock lock(task_->mutex);
    const auto is_done = [this] { return task_->done; };
    // A rank that fails waits for its lanes, which may wait for ranks that will never answer them.
    constexpr std::chrono::seconds grace(1);
    if (std::uncaught_exceptions() > 0 && !task_->ended.wait_for(lock, grace, is_done)) release_();
    task_->ended.wait(lock, is_done);
    if (const std::exception_ptr error = std::exchange(task_->error, nullptr)) std::rethrow_exception(error);
  }

 private:
  std::shared_ptr<Task> task_;
  std::function<void()> release_;
};

ThreadLane::ThreadLane(std::function<void()> release) : release_(std::move(release)), thread_([this] { run(); }) {}

ThreadLane::~ThreadLane() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    changed_.notify_all();
  }
  thread_.join();
}

Pending ThreadLane::launch(std::function<void()> body) {
  auto task = std::make_shared<Task>();
  task->body = std::move(body);
  const std::lock_guard lock(mutex_);
  tasks_.push_back(task);
  changed_.notify_all();
  return Pending(std::make_unique<TaskState>(std::move(task), release_));
}

void ThreadLane::run() {
  std::exception_ptr failed;
  while (true) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return closing_ || !tasks_.empty(); });
    if (tasks_.empty()) return;
    const std::shared_ptr<Task> task = std::move(tasks_.front());
    tasks_.pop_front();
    lock.unlock();
    task->run(failed);
  }
}

}  // namespace trigram
