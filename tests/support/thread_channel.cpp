// Messages from one rank to another inside a process, in order.
#include "tests/support/thread_channel.hpp"

#include <cstring>
#include <utility>

namespace trigram {

namespace {

std::string words(const Shape& shape) {
  return std::to_string(shape.count) + " elements (" + std::to_string(shape.modelled_count) + " modelled) of " +
         std::string(name_of(shape.dtype)) + (shape.phantom ? ", phantom" : "");
}

bool agree(const Shape& a, const Shape& b) {
  return a.phantom == b.phantom && a.count * size_of(a.dtype) == b.count * size_of(b.dtype) &&
         a.modelled_count * size_of(a.dtype) == b.modelled_count * size_of(b.dtype);
}

}  // namespace

Message message_of(const Buffer& buffer) {
  Message message{buffer.shape(), std::vector<std::byte>(static_cast<std::size_t>(buffer.bytes()))};
  if (!message.bytes.empty()) std::memcpy(message.bytes.data(), buffer.raw(), message.bytes.size());
  return message;
}

void deliver(const Message& message, const Buffer& buffer, int sender, int receiver) {
  ensure(agree(message.shape, buffer.shape()), "rank ", sender, " sent ", words(message.shape), " and rank ", receiver,
         " expected ", words(buffer.shape()));
  if (!message.bytes.empty()) std::memcpy(buffer.raw(), message.bytes.data(), message.bytes.size());
}

std::uint64_t ThreadChannel::post(Message message) {
  const std::lock_guard lock(mutex_);
  waiting_.push_back(std::move(message));
  changed_.notify_all();
  return ++posted_;
}

bool ThreadChannel::wait_taken(std::uint64_t ticket, Deadline deadline) {
  std::unique_lock lock(mutex_);
  const bool in_time = changed_.wait_until(lock, deadline, [&] { return released_ || taken_ >= ticket; });
  if (taken_ >= ticket) return true;
  if (released_) throw Released();
  return in_time;
}

bool ThreadChannel::take(Message& message, Deadline deadline) {
  std::unique_lock lock(mutex_);
  if (!changed_.wait_until(lock, deadline, [&] { return released_ || !waiting_.empty(); })) return false;
  if (waiting_.empty()) throw Released();
  message = std::move(waiting_.front());
  waiting_.pop_front();
  ++taken_;
  changed_.notify_all();
  return true;
}

void ThreadChannel::release() {
  const std::lock_guard lock(mutex_);
  released_ = true;
  changed_.notify_all();
}

std::shared_ptr<ThreadChannel> ThreadChannels::find(const std::string& group, int sender, int receiver) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<ThreadChannel>& channel = channels_[{group, sender, receiver}];
  if (channel == nullptr) {
    channel = std::make_shared<ThreadChannel>();
    if (released_) channel->release();
  }
  return channel;
}

void ThreadChannels::release() {
  const std::lock_guard lock(mutex_);
  released_ = true;
  for (const auto& [place, channel] : channels_) channel->release();
}

}  // namespace trigram
