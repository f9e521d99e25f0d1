// A row of encoded frames in one piece of memory.
#pragma once

#include <span>
#include <vector>

#include "core/codec.hpp"

namespace trigram {

/// One frame for each of the given vectors, one after the other; real and modelled sizes are exact for each. They hold
/// nothing until they are written.
class Frames {
 public:
  Frames(Device& device, const Codec& codec, std::span<const Shape> vectors);
  const std::vector<Buffer>& all() const { return frames_; }
  Buffer operator[](int index) const { return frames_[static_cast<std::size_t>(index)]; }

 private:
  OwnedBuffer memory_;
  std::vector<Buffer> frames_;
};

}  // namespace trigram
