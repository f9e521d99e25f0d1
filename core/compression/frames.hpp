// Rows of encoded frames in one piece of memory.
#pragma once

#include <span>
#include <vector>

#include "core/device/codec.hpp"
#include "core/lane/communicator.hpp"

namespace trigram {

/// One frame for each vector of a row. They are back to back, each at a multiple of `alignment` bytes from the
/// first, where kernels and networks are fastest; real and modelled sizes are exact for each. Their memory is the
/// group's scratch memory, kept between calls and not filled: theirs until the group's is asked for again.
class Frames {
 public:
  static constexpr std::int64_t alignment = 256;

  using Vectors = std::span<const Shape>;
  static Frames row(Communicator& group, const Codec& codec, Vectors vectors);
  /// Several rows at once.
  static std::vector<Frames> rows(Communicator& group, const Codec& codec, std::span<const Vectors> vectors);

  const std::vector<Buffer>& all() const { return frames_; }
  Buffer last() const { return frames_.back(); }
  Buffer operator[](int index) const { return frames_[static_cast<std::size_t>(index)]; }

 private:
  /// Frames of these shapes from `offset` on, which moves on.
  Frames(Buffer memory, std::span<const Shape> shapes, std::int64_t& offset);

  std::vector<Buffer> frames_;
};

/// Sends the last frame to each peer, whose frames come into the others, in their order. Gives the peers that are gone,
/// as Communicator::exchange_with_those_there.
std::vector<int> swap_with_peers(Communicator& group, std::span<const int> peers, const Frames& frames);

}  // namespace trigram
