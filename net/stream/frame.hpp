// What travels on a stream: frames of a fixed head, of which one kind carries bytes of a message.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace trigram::net {

/// Messages of at most so many bytes are sent without being asked for.
constexpr std::size_t inline_bytes = 8192;
/// Inline messages that may be on their way, or wait for a receive, of one communicator.
constexpr std::size_t max_unasked = 64;

enum class FrameKind : std::uint8_t {
  data = 1,         ///< `length` bytes of a message follow
  request = 2,      ///< the sender has a large message with this tag, and no receive is known to it
  acknowledge = 3,  ///< so many (`index`) frames of data have been received on this stream
  credit = 4,       ///< so many (`index`) receives have been posted with this tag since the beginning
  bye = 5,          ///< nothing follows
};

/// The head of a frame. A message is the `index`-th with its tag.
struct Frame {
  FrameKind kind{};
  std::int32_t tag = 0;
  std::uint32_t chunk = 0;   ///< bytes of all chunks of the message but its last
  std::uint32_t length = 0;  ///< bytes that follow
  std::uint64_t index = 0;
  std::uint64_t offset = 0;  ///< of the bytes that follow, in the message
  std::uint64_t size = 0;    ///< of the whole message
};

constexpr std::size_t frame_bytes = 48;
using FrameBytes = std::span<std::byte, frame_bytes>;
using ConstFrameBytes = std::span<const std::byte, frame_bytes>;

void write_frame(const Frame& frame, FrameBytes bytes);

/// Nothing if no sender of ours could have written it: an unknown kind, sizes out of bounds, a chunk that is none of
/// its message's.
std::optional<Frame> read_frame(ConstFrameBytes bytes);

/// In how many chunks a message goes; one, if it is empty.
std::uint64_t chunks_of(std::uint64_t size, std::uint64_t chunk);

}  // namespace trigram::net
