// Many numbers of a Philox stream side by side, the same as Philox::bits gives one by one.
#pragma once

#include <cstdint>

#include "core/random.hpp"
#include "kernels/scalar.hpp"

namespace trigram {

/// words[0 … 4·blocks) = words 4·first … of the stream: Philox4x32-10, with its published multipliers and Weyl steps.
TRIGRAM_RULE void philox_words(const Philox& philox, std::uint64_t first, std::int64_t blocks, std::uint32_t* words) {
  const std::uint32_t key0 = philox.key_word(0);
  const std::uint32_t key1 = philox.key_word(1);
  const std::uint64_t upper = philox.upper_counter();
  for (std::int64_t i = 0; i < blocks; ++i) {
    const std::uint64_t index = first + static_cast<std::uint64_t>(i);
    auto c0 = static_cast<std::uint32_t>(index);
    auto c1 = static_cast<std::uint32_t>(index >> 32U);
    auto c2 = static_cast<std::uint32_t>(upper);
    auto c3 = static_cast<std::uint32_t>(upper >> 32U);
#pragma GCC unroll 10
    for (std::uint32_t round = 0; round < 10; ++round) {
      const std::uint64_t product0 = static_cast<std::uint64_t>(c0) * 0xD2511F53U;
      const std::uint64_t product2 = static_cast<std::uint64_t>(c2) * 0xCD9E8D57U;
      c0 = static_cast<std::uint32_t>(product2 >> 32U) ^ c1 ^ (key0 + round * 0x9E3779B9U);
      c1 = static_cast<std::uint32_t>(product2);
      c2 = static_cast<std::uint32_t>(product0 >> 32U) ^ c3 ^ (key1 + round * 0xBB67AE85U);
      c3 = static_cast<std::uint32_t>(product0);
    }
    words[4 * i] = c0;
    words[4 * i + 1] = c1;
    words[4 * i + 2] = c2;
    words[4 * i + 3] = c3;
  }
}

}  // namespace trigram
