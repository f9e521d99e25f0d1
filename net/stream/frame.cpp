#include "net/stream/frame.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "net/abi.hpp"

namespace trigram::net {
namespace {

static_assert(std::endian::native == std::endian::little, "frames are little-endian, as the hosts of GPUs are");

constexpr std::uint32_t magic = 0x4d475254;  // "TRGM"
constexpr std::uint32_t least_chunk = 4096;
constexpr std::uint32_t largest_chunk = 16 << 20;

/// Frames as bytes, without holes.
struct Layout {
  std::uint32_t magic;
  std::uint8_t kind;
  std::uint8_t zeros[3];
  std::int32_t tag;
  std::uint32_t chunk;
  std::uint32_t length;
  std::uint32_t zero;
  std::uint64_t index;
  std::uint64_t offset;
  std::uint64_t size;
};
static_assert(sizeof(Layout) == frame_bytes);

bool is_chunk(const Frame& frame) {
  if (frame.size > abi::max_message || frame.chunk < least_chunk || frame.chunk > largest_chunk) return false;
  if (!std::has_single_bit(frame.chunk) || frame.offset % frame.chunk != 0) return false;
  if (frame.offset > frame.size || (frame.offset == frame.size && frame.size > 0)) return false;
  return frame.length == std::min<std::uint64_t>(frame.chunk, frame.size - frame.offset);
}

}  // namespace

void write_frame(const Frame& frame, FrameBytes bytes) {
  const Layout layout{magic,
                      static_cast<std::uint8_t>(frame.kind),
                      {},
                      frame.tag,
                      frame.chunk,
                      frame.length,
                      0,
                      frame.index,
                      frame.offset,
                      frame.size};
  std::memcpy(bytes.data(), &layout, frame_bytes);
}

std::optional<Frame> read_frame(ConstFrameBytes bytes) {
  Layout layout;
  std::memcpy(&layout, bytes.data(), frame_bytes);
  if (layout.magic != magic || layout.kind < 1 || layout.kind > 5) return std::nullopt;
  if (layout.zeros[0] || layout.zeros[1] || layout.zeros[2] || layout.zero) return std::nullopt;
  const Frame frame{static_cast<FrameKind>(layout.kind),
                    layout.tag,
                    layout.chunk,
                    layout.length,
                    layout.index,
                    layout.offset,
                    layout.size};
  if (frame.kind == FrameKind::data ? !is_chunk(frame) : frame.length != 0) return std::nullopt;
  return frame;
}

std::uint64_t chunks_of(std::uint64_t size, std::uint64_t chunk) {
  return std::max<std::uint64_t>(1, (size + chunk - 1) / chunk);
}

}  // namespace trigram::net
