// A thread that moves large messages while callers are elsewhere.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "net/comm.hpp"

namespace trigram::net {

/// Runs as long as there are communicators of its own, and sleeps while none of them has a large message under way.
class Mover final : public Sleeper {
 public:
  /// On one of these processors; on any, where there are none.
  explicit Mover(std::vector<int> processors) : processors_(std::move(processors)) {}
  ~Mover() override;

  void add(const std::shared_ptr<Comm>& comm);
  bool wake() override;

 private:
  void run();
  void settle() const;
  Work pass();
  void rest(std::unique_lock<std::mutex>& lock, Clock::duration time, unsigned seen);

  std::vector<int> processors_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::weak_ptr<Comm>> added_;
  std::vector<std::weak_ptr<Comm>> comms_;  ///< of the thread alone
  std::atomic<unsigned> calls_ = 0;
  std::atomic<bool> asleep_ = false;
  bool running_ = false;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace trigram::net
