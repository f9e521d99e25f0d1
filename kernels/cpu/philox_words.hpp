// Many numbers of a Philox stream side by side, the same as Philox::bits gives one by one.
#pragma once

#include <cstdint>

#include "kernels/philox.hpp"

namespace trigram {

/// words[0 … 4·blocks) = words 4·first … of the stream.
TRIGRAM_RULE void philox_words(const Philox& philox, std::uint64_t first, std::int64_t blocks, std::uint32_t* words) {
  const PhiloxStream stream(philox);
  for (std::int64_t i = 0; i < blocks; ++i) {
    philox_block(stream, first + static_cast<std::uint64_t>(i), words + 4 * i);
  }
}

}  // namespace trigram
