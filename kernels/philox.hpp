// Numbers of a Philox stream as every kind of device draws them, the same as core's Philox gives.
#pragma once

#include <cstdint>

#include "core/values/random.hpp"
#include "kernels/scalar.hpp"

namespace trigram {

/// What names a stream, in a form that kernels can be handed.
struct PhiloxStream {
  std::uint32_t key0 = 0, key1 = 0;
  std::uint64_t upper = 0;

  PhiloxStream() = default;
  explicit PhiloxStream(const Philox& philox)
      : key0(philox.key_word(0)), key1(philox.key_word(1)), upper(philox.upper_counter()) {}
};

/// words[0 … 4) = words 4·index … of the stream: Philox4x32-10, with its published multipliers and Weyl steps.
TRIGRAM_RULE void philox_block(const PhiloxStream& stream, std::uint64_t index, std::uint32_t* words) {
  auto c0 = static_cast<std::uint32_t>(index);
  auto c1 = static_cast<std::uint32_t>(index >> 32U);
  auto c2 = static_cast<std::uint32_t>(stream.upper);
  auto c3 = static_cast<std::uint32_t>(stream.upper >> 32U);
#ifdef __CUDACC__
#pragma unroll
#else
#pragma GCC unroll 10
#endif
  for (std::uint32_t round = 0; round < 10; ++round) {
    const std::uint64_t product0 = static_cast<std::uint64_t>(c0) * 0xD2511F53U;
    const std::uint64_t product2 = static_cast<std::uint64_t>(c2) * 0xCD9E8D57U;
    c0 = static_cast<std::uint32_t>(product2 >> 32U) ^ c1 ^ (stream.key0 + round * 0x9E3779B9U);
    c1 = static_cast<std::uint32_t>(product2);
    c2 = static_cast<std::uint32_t>(product0 >> 32U) ^ c3 ^ (stream.key1 + round * 0xBB67AE85U);
    c3 = static_cast<std::uint32_t>(product0);
  }
  words[0] = c0;
  words[1] = c1;
  words[2] = c2;
  words[3] = c3;
}

/// Words 2·index and 2·index + 1, the first one low.
TRIGRAM_RULE std::uint64_t philox_bits64(const PhiloxStream& stream, std::uint64_t index) {
  std::uint32_t words[4];
  philox_block(stream, index / 2, words);
  const bool first = index % 2 == 0;
  return static_cast<std::uint64_t>(first ? words[1] : words[3]) << 32U | (first ? words[0] : words[2]);
}

/// Philox::below for a bound whose (2^64 − bound) mod bound is known.
TRIGRAM_RULE std::uint64_t philox_below(const PhiloxStream& stream, std::uint64_t index, std::uint64_t bound,
                                        std::uint64_t rejected) {
  __extension__ typedef unsigned __int128 Wide;
  for (std::uint64_t attempt = 0;; ++attempt) {
    const Wide product = static_cast<Wide>(philox_bits64(stream, index | attempt << 56U)) * bound;
    if (static_cast<std::uint64_t>(product) >= rejected) return static_cast<std::uint64_t>(product >> 64U);
  }
}

}  // namespace trigram
