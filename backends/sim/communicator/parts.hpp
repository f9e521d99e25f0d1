// Sizes and bytes of the parts that ranks bring to a collective.
#pragma once

#include <algorithm>
#include <cstring>
#include <limits>
#include <span>
#include <string>

#include "core/values/buffer.hpp"

namespace trigram::sim {

/// Of parts that were added.
struct PartSizes {
  std::int64_t least = std::numeric_limits<std::int64_t>::max(), most = 0;
  bool phantom = true;

  void add(const PartSizes& more) {
    least = std::min(least, more.least);
    most = std::max(most, more.most);
    phantom = phantom && more.phantom;
  }
  void add(std::span<const Buffer> parts) {
    for (const Buffer& part : parts) add({part.modelled_bytes(), part.modelled_bytes(), part.is_phantom()});
  }
  /// Whether one flow may stand for flows of all: those of chunks, encoded or not, whose last is shorter than the first
  /// by less than two grains.
  bool nearly_equal() const {
    const std::int64_t two_grains =
        std::min(2 * chunk_grain * size_of(DType::f32), most * 2 * chunk_grain / long_chunk);
    return most - least <= std::max(most / 1000, two_grains) + size_of(DType::i64);
  }
  /// Whether there is nothing to move, and no two differ.
  bool equal_phantoms() const { return phantom && least == most; }
};

/// As an index.
inline std::size_t at(int rank) { return static_cast<std::size_t>(rank); }

/// Whether one can be received as the other.
inline bool same_size(const Buffer& a, const Buffer& b) {
  return a.modelled_bytes() == b.modelled_bytes() && a.is_phantom() == b.is_phantom() && a.bytes() == b.bytes();
}

/// "24 bytes (phantom)".
inline std::string size_text(const Buffer& buffer) {
  return std::to_string(buffer.modelled_bytes()) + " bytes" + (buffer.is_phantom() ? " (phantom)" : "");
}

/// Nothing where both are the same memory.
inline void copy_bytes(Buffer from, Buffer to) {
  if (from.bytes() > 0 && from.raw() != to.raw())
    std::memmove(to.raw(), from.raw(), static_cast<std::size_t>(from.bytes()));
}

}  // namespace trigram::sim
