// The messages of a sending communicator, as chunks that streams draw from one queue.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "net/comm.hpp"
#include "net/stream/frame.hpp"

namespace trigram::net {

/// A message until all of it is acknowledged.
struct Message {
  const std::byte* bytes = nullptr;
  std::uint64_t size = 0;
  std::int32_t tag = 0;
  std::uint64_t index = 0;  ///< among those with its tag
  std::uint32_t chunk = 0;
  std::uint64_t chunks = 0;
  std::uint64_t drawn = 0;
  std::uint64_t acknowledged = 0;
  std::vector<bool> has_arrived;  ///< a chunk
  Request* request = nullptr;     ///< null: the caller was told that it is sent, and the bytes are a copy
  std::vector<std::byte> copy;

  /// Bytes that no stream has drawn.
  std::uint64_t waiting() const { return size - drawn * chunk; }
};

/// A chunk that a stream has drawn.
struct Drawn {
  std::shared_ptr<Message> message;
  std::uint64_t chunk = 0;
  Clock::time_point at;
  bool repeated = false;  ///< another stream has drawn it too

  bool has_arrived() const { return message->has_arrived[chunk]; }
  Frame frame() const;
  const std::byte* bytes() const { return message->bytes + chunk * message->chunk; }
};

class Outbox {
 public:
  /// Whether a stream takes a chunk of `length` bytes, where so many wait up to the end of its message.
  using Takes = std::function<bool(std::uint64_t length, std::uint64_t queued)>;

  /// Chunks have at least so many bytes. A message has so many of them, of at most what one can write at a time; 0: as
  /// many as there are, for paths that may be unequal, and smaller ones where it is short.
  Outbox(std::size_t chunk, std::size_t parts) : chunk_(static_cast<std::uint32_t>(chunk)), parts_(parts) {}

  /// Whether another message, of at most `inline_bytes`, may be taken over.
  bool takes_inline() const { return inline_in_flight_ < max_unasked; }
  /// The bytes are copied.
  void add_inline(const std::byte* bytes, std::uint64_t size, std::int32_t tag);
  /// The fastest of several paths carries so many bytes a second; 0: not known.
  void carried_at(double fastest) { fastest_ = fastest; }
  /// The bytes stay where they are until the request is over.
  void add(const std::byte* bytes, std::uint64_t size, std::int32_t tag, Request* request);

  /// The next chunk for a stream that has room: small messages first, then what has to go again, then the first message
  /// for which a receive is known and of which the stream takes a chunk.
  std::optional<Drawn> draw(Clock::time_point now, const Takes& takes = nullptr);
  /// Something small waits.
  bool is_urgent() const { return !urgent_.empty(); }
  /// Takes chunks back that were drawn by a stream that is gone.
  void take_back(std::deque<Drawn>& drawn);
  /// A chunk has arrived. True if it was the last one of its message, whose bytes are then the caller's again.
  bool arrived(const Drawn& drawn);

  /// So many receives have been posted with the tag. False if that cannot be.
  bool credit(std::int32_t tag, std::uint64_t posted);
  /// The tag of a message that waits for a receive, if one does and nothing else can be drawn.
  std::optional<std::int32_t> waits_for() const;

  /// Nothing is under way.
  bool empty() const { return in_flight_ == 0; }

 private:
  struct Tag {
    std::uint64_t messages = 0;
    std::uint64_t posted = 0;
  };

  std::shared_ptr<Message> new_message(const std::byte* bytes, std::uint64_t size, std::int32_t tag);
  bool may_go(const Message& message) const;
  std::optional<Drawn> draw_again(Clock::time_point now);

  std::uint32_t chunk_of(std::uint64_t size) const;

  std::uint32_t chunk_;
  std::size_t parts_;
  double fastest_ = 0;
  std::map<std::int32_t, Tag> tags_;
  std::deque<std::shared_ptr<Message>> urgent_;
  std::deque<std::shared_ptr<Message>> queue_;
  std::deque<Drawn> again_;
  std::size_t in_flight_ = 0;
  std::size_t inline_in_flight_ = 0;
};

}  // namespace trigram::net
