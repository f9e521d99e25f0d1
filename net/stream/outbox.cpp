#include "net/stream/outbox.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "net/stream/way.hpp"

namespace trigram::net {
namespace {

constexpr std::size_t max_tags = 4096;

}  // namespace

Frame Drawn::frame() const {
  const std::uint64_t offset = chunk * message->chunk;
  const auto length = static_cast<std::uint32_t>(std::min<std::uint64_t>(message->chunk, message->size - offset));
  return {FrameKind::data, message->tag, message->chunk, length, message->index, offset, message->size};
}

/// The least, so that unequal paths end together.
std::uint32_t Outbox::chunk_of(std::uint64_t size) const {
  constexpr std::uint64_t largest = 1 << 20;
  const std::uint64_t least = std::max<std::uint64_t>(chunk_, inline_bytes);
  if (parts_ == 0) return chunk_over(size, fastest_, static_cast<std::uint32_t>(least));
  const std::uint64_t part = std::bit_ceil((size + parts_ - 1) / parts_);
  return static_cast<std::uint32_t>(std::clamp(part, least, std::max(least, largest)));
}

std::shared_ptr<Message> Outbox::new_message(const std::byte* bytes, std::uint64_t size, std::int32_t tag) {
  if (tags_.size() >= max_tags && !tags_.contains(tag)) {
    throw Error(abi::Result::invalid_usage, "more than " + std::to_string(max_tags) + " tags on one communicator");
  }
  auto message = std::make_shared<Message>();
  message->bytes = bytes;
  message->size = size;
  message->tag = tag;
  message->index = tags_[tag].messages++;
  message->chunk = chunk_of(size);
  message->chunks = chunks_of(size, message->chunk);
  message->has_arrived.resize(message->chunks);
  ++in_flight_;
  return message;
}

void Outbox::add_inline(const std::byte* bytes, std::uint64_t size, std::int32_t tag) {
  auto message = new_message(nullptr, size, tag);
  if (size > 0) message->copy.assign(bytes, bytes + size);
  message->bytes = message->copy.data();
  urgent_.push_back(std::move(message));
  ++inline_in_flight_;
}

void Outbox::add(const std::byte* bytes, std::uint64_t size, std::int32_t tag, Request* request) {
  auto message = new_message(bytes, size, tag);
  message->request = request;
  queue_.push_back(std::move(message));
}

bool Outbox::may_go(const Message& message) const { return message.index < tags_.at(message.tag).posted; }

std::optional<Drawn> Outbox::draw(Clock::time_point now, const Takes& takes) {
  if (!urgent_.empty()) {
    auto message = urgent_.front();
    urgent_.pop_front();
    message->drawn = 1;
    return Drawn{std::move(message), 0, now};
  }
  if (auto drawn = draw_again(now)) return drawn;
  std::uint64_t queued = 0;
  const auto next = std::find_if(queue_.begin(), queue_.end(), [&](const auto& one) {
    if (!may_go(*one)) return false;
    queued += one->waiting();
    return !takes || takes(std::min<std::uint64_t>(one->chunk, one->waiting()), queued);
  });
  if (next == queue_.end()) return std::nullopt;
  Drawn drawn{*next, (*next)->drawn++, now};
  if ((*next)->drawn == (*next)->chunks) queue_.erase(next);
  return drawn;
}

std::optional<Drawn> Outbox::draw_again(Clock::time_point now) {
  while (!again_.empty()) {
    Drawn drawn = std::move(again_.front());
    again_.pop_front();
    if (drawn.has_arrived()) continue;
    drawn.at = now;
    return drawn;
  }
  return std::nullopt;
}

void Outbox::take_back(std::deque<Drawn>& drawn) {
  again_.insert(again_.begin(), std::make_move_iterator(drawn.begin()), std::make_move_iterator(drawn.end()));
  drawn.clear();
}

bool Outbox::arrived(const Drawn& drawn) {
  Message& message = *drawn.message;
  if (drawn.has_arrived()) return false;
  message.has_arrived[drawn.chunk] = true;
  if (++message.acknowledged < message.chunks) return false;
  --in_flight_;
  if (!message.request) {
    --inline_in_flight_;
    return true;
  }
  message.request->sizes[0] = static_cast<int>(std::min<std::uint64_t>(message.size, 0x7fffffff));
  message.request->pending = 0;
  return true;
}

bool Outbox::credit(std::int32_t tag, std::uint64_t posted) {
  if (tags_.size() >= max_tags && !tags_.contains(tag)) return false;
  auto& known = tags_[tag].posted;
  known = std::max(known, posted);
  return true;
}

std::optional<std::int32_t> Outbox::waits_for() const {
  if (queue_.empty() || std::any_of(queue_.begin(), queue_.end(), [this](const auto& one) { return may_go(*one); })) {
    return std::nullopt;
  }
  return queue_.front()->tag;
}

}  // namespace trigram::net
