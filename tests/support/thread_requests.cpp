#include "tests/support/thread_requests.hpp"

#include <cstring>
#include <utility>

namespace trigram {
namespace {

class ThreadRequest final : public Request {
 public:
  ThreadRequest(int from, int about, OwnedBuffer bytes, std::shared_ptr<ThreadChannel> replies)
      : Request(from, about, std::move(bytes)), replies_(std::move(replies)) {}
  void reply(Buffer with) override { replies_->post(message_of(with)); }

 private:
  std::shared_ptr<ThreadChannel> replies_;
};

OwnedBuffer copy_of(const Buffer& buffer) {
  auto memory = std::make_shared<std::vector<std::byte>>(message_of(buffer).bytes);
  return {std::shared_ptr<void>(memory, memory->data()), buffer.shape()};
}

}  // namespace

void Inbox::put(std::unique_ptr<Request> request) {
  const std::lock_guard lock(mutex_);
  waiting_.push_back(std::move(request));
  changed_.notify_all();
}

std::unique_ptr<Request> Inbox::next(std::size_t ranks) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return released_ || !waiting_.empty() || left_ == ranks; });
  if (released_) throw Released();
  if (waiting_.empty()) return nullptr;
  std::unique_ptr<Request> request = std::move(waiting_.front());
  waiting_.pop_front();
  return request;
}

void Inbox::leave() {
  const std::lock_guard lock(mutex_);
  ++left_;
  changed_.notify_all();
}

void Inbox::release() {
  const std::lock_guard lock(mutex_);
  released_ = true;
  changed_.notify_all();
}

void ThreadRequests::ask(int lane, std::span<const Ask> asks) {
  const auto timeout = std::chrono::duration_cast<std::chrono::steady_clock::duration>(network_->timeout);
  const ThreadChannel::Deadline deadline = std::chrono::steady_clock::now() + timeout;
  std::vector<std::shared_ptr<ThreadChannel>> replies;
  for (const Ask& one : asks) {
    replies.push_back(network_->channels.find("replies to lane " + std::to_string(lane), one.peer, rank_));
    Inbox& inbox = inboxes_[static_cast<std::size_t>(one.peer)];
    inbox.put(std::make_unique<ThreadRequest>(rank_, one.subject, copy_of(one.request), replies.back()));
    if (network_->mutation != ThreadMutation::serves_twice) continue;
    const auto nobodys = std::make_shared<ThreadChannel>();
    inbox.put(std::make_unique<ThreadRequest>(rank_, one.subject, copy_of(one.request), nobodys));
  }
  for (std::size_t i = 0; i < asks.size(); ++i) {
    Message message;
    if (!replies[i]->take(message, deadline)) {
      throw BackendError("rank " + std::to_string(rank_) + " waited " + std::to_string(network_->timeout.count()) +
                         " s for the reply of rank " + std::to_string(asks[i].peer));
    }
    deliver(message, asks[i].reply, asks[i].peer, rank_);
  }
}

void ThreadRequests::leave() {
  for (Inbox& inbox : inboxes_) inbox.leave();
}

void ThreadRequests::exclusively(const std::function<void()>& body) {
  const std::lock_guard lock(guard_);
  body();
}

}  // namespace trigram
