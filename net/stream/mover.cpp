#include "net/stream/mover.hpp"

#include <pthread.h>

#include <algorithm>

#include "net/stream/own_thread.hpp"

namespace trigram::net {

using namespace std::chrono_literals;

Mover::~Mover() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

void Mover::add(const std::shared_ptr<Comm>& comm) {
  const std::lock_guard lock(mutex_);
  added_.push_back(comm);
  if (running_) return;
  if (thread_.joinable()) thread_.join();  // it has left its loop
  running_ = true;
  thread_ = own_thread([this] { run(); });
}

bool Mover::wake() {
  ++calls_;
  if (!asleep_) return true;
  const std::lock_guard lock(mutex_);
  changed_.notify_all();
  return false;
}

void Mover::run() {
  constexpr int patience = 1000;  // passes, of a microsecond
  settle();
  std::unique_lock lock(mutex_);
  for (int idle = 0; !stopping_ && (!added_.empty() || !comms_.empty());) {
    const unsigned seen = calls_;
    comms_.insert(comms_.end(), added_.begin(), added_.end());
    added_.clear();
    lock.unlock();
    const Work work = pass();
    idle = work == Work::moved ? 0 : idle + 1;
    if (work == Work::waits) std::this_thread::yield();
    lock.lock();
    if (work == Work::nothing) rest(lock, 20ms, seen);
    // A peer that rests is looked at by callers, and now and then here.
    if (work == Work::waits && idle > patience) rest(lock, 1ms, seen);
  }
  running_ = false;
}

void Mover::rest(std::unique_lock<std::mutex>& lock, Clock::duration time, unsigned seen) {
  asleep_ = true;
  changed_.wait_for(lock, time, [&] { return stopping_ || calls_ != seen; });
  asleep_ = false;
}

/// What most of its communicators had.
Work Mover::pass() {
  Work most = Work::nothing;
  std::erase_if(comms_, [&](const std::weak_ptr<Comm>& one) {
    const auto comm = one.lock();
    if (comm) most = std::max(most, comm->move());
    return !comm;
  });
  return most;
}

void Mover::settle() const {
  if (processors_.empty()) return;
  cpu_set_t chosen;
  CPU_ZERO(&chosen);
  for (const int one : processors_) CPU_SET(static_cast<std::size_t>(one), &chosen);
  pthread_setaffinity_np(pthread_self(), sizeof chosen, &chosen);
}

}  // namespace trigram::net
