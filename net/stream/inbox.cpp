#include "net/stream/inbox.hpp"

#include <algorithm>
#include <cstring>

namespace trigram::net {
namespace {

constexpr std::size_t max_tags = 4096;

}  // namespace

std::uint64_t Inbox::posted(std::int32_t tag) const {
  const auto& known = tags_.at(tag);
  return known.over + known.receives.size();
}

bool Inbox::post(Request* request, int place, std::byte* data, std::uint64_t capacity, std::int32_t tag) {
  if (tags_.size() >= max_tags && !tags_.contains(tag)) return false;
  auto& known = tags_[tag];
  const Key key{tag, known.over + known.receives.size()};
  Receive receive;
  receive.request = request;
  receive.place = place;
  receive.data = data;
  receive.capacity = capacity;
  known.receives.push_back(std::move(receive));
  if (const auto early = early_.find(key); early != early_.end() && early->second.has_arrived) early_arrived(key);
  return true;
}

Inbox::Receive* Inbox::receive_of(const Frame& frame) {
  const auto tag = tags_.find(frame.tag);
  if (tag == tags_.end() || frame.index < tag->second.over) return nullptr;
  const std::uint64_t at = frame.index - tag->second.over;
  return at < tag->second.receives.size() ? &tag->second.receives[at] : nullptr;
}

std::byte* Inbox::destination(const Frame& frame, bool& discarded) {
  if (early_.contains({frame.tag, frame.index})) return early_destination(frame, discarded);
  const auto tag = tags_.find(frame.tag);
  if (tag != tags_.end() && frame.index < tag->second.over) {
    discarded = true;
    return nullptr;
  }
  Receive* receive = receive_of(frame);
  if (!receive) return early_destination(frame, discarded);
  if (receive->done) {
    discarded = true;
    return nullptr;
  }
  if (!accepts(*receive, frame)) return nullptr;
  discarded = receive->has_arrived[frame.offset / frame.chunk] || frame.size == 0;
  return discarded ? nullptr : receive->data + frame.offset;
}

bool Inbox::accepts(Receive& receive, const Frame& frame) {
  if (receive.chunk == 0) {
    if (frame.size > receive.capacity) {
      problem_ = "the peer sends " + std::to_string(frame.size) + " bytes with tag " + std::to_string(frame.tag) +
                 " where a receive of " + std::to_string(receive.capacity) + " was posted";
      return false;
    }
    receive.chunk = frame.chunk;
    receive.size = frame.size;
    receive.has_arrived.resize(chunks_of(frame.size, frame.chunk));
  }
  if (receive.chunk == frame.chunk && receive.size == frame.size) return true;
  problem_ = "the peer says two sizes of one message";
  return false;
}

std::byte* Inbox::early_destination(const Frame& frame, bool& discarded) {
  const Key key{frame.tag, frame.index};
  auto early = early_.find(key);
  if (early == early_.end()) {
    // Each stream may carry one again that it lost in the middle.
    if (frame.size > inline_bytes || frame.length != frame.size || early_.size() >= 2 * max_unasked) {
      problem_ = "the peer sends what no receive was posted for";
      return nullptr;
    }
    early = early_.emplace(key, Early{std::vector<std::byte>(frame.size), false}).first;
  } else if (frame.size != early->second.bytes.size() || frame.length != frame.size) {
    problem_ = "the peer says two sizes of one message";
    return nullptr;
  }
  discarded = early->second.has_arrived || frame.size == 0;
  return discarded ? nullptr : early->second.bytes.data();
}

void Inbox::arrived(const Frame& frame) {
  const Key key{frame.tag, frame.index};
  if (const auto early = early_.find(key); early != early_.end()) {
    early->second.has_arrived = true;
    if (receive_of(frame)) early_arrived(key);
    return;
  }
  Receive* receive = receive_of(frame);
  if (!receive || receive->done || receive->has_arrived[frame.offset / frame.chunk]) return;
  receive->has_arrived[frame.offset / frame.chunk] = true;
  if (++receive->arrived == receive->has_arrived.size()) finish(*receive, tags_.at(frame.tag));
}

/// A receive that was posted late gets its message.
void Inbox::early_arrived(const Key& key) {
  auto& tag = tags_.at(key.first);
  Receive& receive = tag.receives[key.second - tag.over];
  const auto early = early_.extract(key);
  const auto& bytes = early.mapped().bytes;
  if (bytes.size() > receive.capacity) {
    problem_ = "the peer sends " + std::to_string(bytes.size()) + " bytes where a receive of " +
               std::to_string(receive.capacity) + " was posted";
    return;
  }
  if (!bytes.empty()) std::memcpy(receive.data, bytes.data(), bytes.size());
  receive.size = bytes.size();
  finish(receive, tag);
}

void Inbox::finish(Receive& receive, Tag& tag) {
  receive.done = true;
  receive.request->sizes[static_cast<std::size_t>(receive.place)] =
      static_cast<int>(std::min<std::uint64_t>(receive.size, 0x7fffffff));
  --receive.request->pending;
  for (; !tag.receives.empty() && tag.receives.front().done; ++tag.over) tag.receives.pop_front();
}

}  // namespace trigram::net
