#include "backends/threads/channel.hpp"

#include <cstring>
#include <utility>

#include "core/values/error.hpp"

namespace trigram::threads {
namespace {

std::string describe(const Buffer& buffer) {
  return std::to_string(buffer.bytes()) + " bytes (" + std::to_string(buffer.modelled_bytes()) + " modelled)";
}

bool agree(const Buffer& a, const Buffer& b) {
  return a.bytes() == b.bytes() && a.modelled_bytes() == b.modelled_bytes();
}

}  // namespace

std::uint64_t Channel::post(const Buffer& message) {
  const std::lock_guard lock(mutex_);
  waiting_.push_back(message);
  changed_.notify_all();
  return ++posted_;
}

void Channel::wait_taken(std::uint64_t ticket, const Wait& wait, const What& what) {
  std::unique_lock lock(mutex_);
  wait.until(
      changed_, lock, [&] { return taken_ >= ticket; }, what);
}

/// Under the lock, so that its sender cannot withdraw a message while it is copied.
void Channel::take(const Buffer& into, const Wait& wait, const What& what) {
  std::unique_lock lock(mutex_);
  wait.until(
      changed_, lock, [&] { return !waiting_.empty(); }, what);
  const Buffer message = waiting_.front();
  ensure(
      agree(message, into), wait.operation, ": ", [&] { return describe(message); }, " came for ", what,
      ", which is of ", [&] { return describe(into); }, "; both ends must name the same size");
  if (into.bytes() > 0) std::memcpy(into.raw(), message.raw(), static_cast<std::size_t>(into.bytes()));
  waiting_.pop_front();
  ++taken_;
  changed_.notify_all();
}

void Channel::withdraw() {
  const std::lock_guard lock(mutex_);
  waiting_.clear();
}

std::shared_ptr<Channel> Channels::find(const std::string& group, int sender, int receiver) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<Channel>& channel = channels_[{group, sender, receiver}];
  if (channel == nullptr) channel = std::make_shared<Channel>();
  return channel;
}

Batch::~Batch() {
  for (const Part& part : sends_) part.channel->withdraw();
}

void Batch::add(std::shared_ptr<Channel> channel, const Transfer& transfer, int peer) {
  const bool sends = transfer.direction == Transfer::Direction::send;
  const std::uint64_t ticket = sends ? channel->post(transfer.buffer) : 0;
  (sends ? sends_ : receives_).push_back({std::move(channel), transfer.buffer, peer, ticket});
}

void Batch::finish(const Wait& wait) {
  const auto described = [](const char* message, const Part& part) {
    return [=, &part] {
      return message + (" of " + std::to_string(part.buffer.bytes())) + " bytes " + (part.ticket == 0 ? "from" : "to") +
             " rank " + std::to_string(part.peer);
    };
  };
  for (const Part& part : receives_) part.channel->take(part.buffer, wait, described("a receive", part));
  for (const Part& part : sends_) part.channel->wait_taken(part.ticket, wait, described("a send", part));
  sends_.clear();
}

}  // namespace trigram::threads
