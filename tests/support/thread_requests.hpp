// Messages without appointment between threads.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "core/service.hpp"
#include "tests/support/thread_communicator.hpp"

namespace trigram {

/// What has been asked of one rank and not been looked at.
class Inbox {
 public:
  void put(std::unique_ptr<Request> request);
  /// The next request; null once `ranks` ranks have left. Throws Released.
  std::unique_ptr<Request> next(std::size_t ranks);
  /// One more rank asks nothing more.
  void leave();
  /// Lets whoever waits go, now and later.
  void release();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::unique_ptr<Request>> waiting_;
  std::size_t left_ = 0;
  bool released_ = false;
};

/// One rank's end. Replies travel on channels of their own, one a pair and lane of the asker.
class ThreadRequests final : public Requests {
 public:
  ThreadRequests(std::shared_ptr<ThreadNetwork> network, std::vector<Inbox>& inboxes, int rank)
      : network_(std::move(network)), inboxes_(inboxes), rank_(rank) {}

  void open(bool) override {}
  void ask(int lane, std::span<const Ask> asks) override;
  std::unique_ptr<Request> next() override { return own().next(inboxes_.size()); }
  void leave() override;
  void exclusively(const std::function<void()>& body) override;

 private:
  Inbox& own() { return inboxes_[static_cast<std::size_t>(rank_)]; }

  std::shared_ptr<ThreadNetwork> network_;
  std::vector<Inbox>& inboxes_;
  int rank_;
  std::mutex guard_;
};

}  // namespace trigram
