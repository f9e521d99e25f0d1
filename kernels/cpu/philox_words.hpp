// Many numbers of a Philox stream side by side, the same as Philox::bits gives one by one.
#pragma once

#include <cstdint>

#include "kernels/cpu/vectorised.hpp"
#include "kernels/philox.hpp"

namespace trigram {

/// Multiples of so many words cost least.
inline constexpr std::int64_t philox_words_at_once = 48;

/// words[0 … 4·blocks) = words 4·first … of the stream.
void philox_words(Instructions instructions, const PhiloxStream& stream, std::uint64_t first, std::int64_t blocks,
                  std::uint32_t* words);

}  // namespace trigram
