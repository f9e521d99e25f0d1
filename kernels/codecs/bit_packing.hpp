// Codes of a fixed number of bits, lowest bit first, without gaps.
#pragma once

#include <cstdint>

#include "kernels/scalar.hpp"

namespace trigram {

/// Packs codes of at most 32 bits; bits after the last code are 0.
TRIGRAM_RULE void pack_bits(const std::uint32_t* codes, std::int64_t count, int width, std::uint8_t* bytes) {
  std::uint64_t pending = 0;
  int filled = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    pending |= static_cast<std::uint64_t>(codes[i]) << filled;
    for (filled += width; filled >= 8; filled -= 8) {
      *bytes++ = static_cast<std::uint8_t>(pending);
      pending >>= 8U;
    }
  }
  if (filled > 0) *bytes = static_cast<std::uint8_t>(pending);
}

TRIGRAM_RULE void unpack_bits(const std::uint8_t* bytes, std::int64_t count, int width, std::uint32_t* codes) {
  const std::uint64_t mask = (std::uint64_t{1} << width) - 1;
  std::uint64_t pending = 0;
  int filled = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    for (; filled < width; filled += 8) pending |= static_cast<std::uint64_t>(*bytes++) << filled;
    codes[i] = static_cast<std::uint32_t>(pending & mask);
    pending >>= width;
    filled -= width;
  }
}

}  // namespace trigram
