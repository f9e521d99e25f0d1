// Sizes and bytes of the parts that ranks bring to a collective.
#pragma once

#include <algorithm>
#include <cstring>
#include <span>

#include "core/buffer.hpp"

namespace trigram::sim {

inline bool nearly_equal(std::int64_t least, std::int64_t most) {
  return most - least <= most / 1000 + size_of(DType::i64);
}

/// Whether one flow may stand for flows of all parts.
inline bool nearly_equal(std::span<const Buffer> parts) {
  std::int64_t least = parts.front().modelled_bytes(), most = least;
  for (const Buffer& part : parts) {
    least = std::min(least, part.modelled_bytes());
    most = std::max(most, part.modelled_bytes());
  }
  return nearly_equal(least, most);
}

/// Nothing where both are the same memory.
inline void copy_bytes(Buffer from, Buffer to) {
  if (from.bytes() > 0 && from.raw() != to.raw())
    std::memmove(to.raw(), from.raw(), static_cast<std::size_t>(from.bytes()));
}

}  // namespace trigram::sim
