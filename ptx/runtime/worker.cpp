#include "ptx/runtime/worker.hpp"

#include "ptx/runtime/control.hpp"

namespace cuda_on_host {

Worker::Worker() : thread_([this] { run(); }) {}

Worker::~Worker() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Worker::order(std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    work_.push_back(std::move(work));
  }
  changed_.notify_all();
}

void Worker::drain() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return work_.empty() && !busy_; });
}

bool Worker::idle() {
  const std::lock_guard lock(mutex_);
  return work_.empty() && !busy_;
}

void Worker::run() {
  constexpr unsigned pause_every = 7;
  constexpr std::chrono::microseconds pause{100};
  std::unique_lock lock(mutex_);
  for (unsigned ran = 0;; ++ran) {
    changed_.wait(lock, [this] { return closed_ || !work_.empty(); });
    if (work_.empty()) return;
    std::function<void()> work = std::move(work_.front());
    work_.pop_front();
    busy_ = true;
    lock.unlock();
    if (ran % pause_every == 0) std::this_thread::sleep_for(pause);
    try {
      work();
    } catch (const std::exception&) {
      break_with(cudaErrorLaunchFailure);
    }
    work = nullptr;
    lock.lock();
    busy_ = false;
    changed_.notify_all();
  }
}

void EventRecord::pass() {
  {
    const std::lock_guard lock(mutex_);
    passed_ = true;
    time_ = std::chrono::steady_clock::now();
  }
  changed_.notify_all();
}

bool EventRecord::passed() {
  const std::lock_guard lock(mutex_);
  return passed_;
}

void EventRecord::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return passed_; });
}

}  // namespace cuda_on_host
