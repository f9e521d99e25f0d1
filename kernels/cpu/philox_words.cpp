// Many numbers of a Philox stream side by side.
#include "kernels/cpu/philox_words.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace trigram {
namespace {

#if defined(__x86_64__)

/// Word w of four blocks, one in each 64-bit lane. The lower half of a lane is the word; the upper half holds anything,
/// since a multiplication reads the lower halves only.
struct FourBlocks {
  __m256i word[4];
};

/// Lanes hold blocks 0, 2, 1 and 3 from `first` on.
[[gnu::target("avx2"), gnu::always_inline]] inline FourBlocks counters(const PhiloxStream& stream,
                                                                       std::uint64_t first) {
  const __m256i index =
      _mm256_add_epi64(_mm256_set1_epi64x(static_cast<std::int64_t>(first)), _mm256_setr_epi64x(0, 2, 1, 3));
  const __m256i upper = _mm256_set1_epi64x(static_cast<std::int64_t>(stream.upper));
  return {{index, _mm256_srli_epi64(index, 32), upper, _mm256_srli_epi64(upper, 32)}};
}

[[gnu::target("avx2"), gnu::always_inline]] inline void run_round(FourBlocks& blocks, __m256i key0, __m256i key1) {
  __m256i* const c = blocks.word;
  const __m256i product0 = _mm256_mul_epu32(c[0], _mm256_set1_epi64x(0xD2511F53));
  const __m256i product2 = _mm256_mul_epu32(c[2], _mm256_set1_epi64x(0xCD9E8D57));
  c[0] = _mm256_xor_si256(_mm256_srli_epi64(product2, 32), _mm256_xor_si256(c[1], key0));
  c[1] = product2;
  c[2] = _mm256_xor_si256(_mm256_srli_epi64(product0, 32), _mm256_xor_si256(c[3], key1));
  c[3] = product0;
}

/// 16 words, block after block.
[[gnu::target("avx2"), gnu::always_inline]] inline void store(const FourBlocks& blocks, std::uint32_t* words) {
  const __m256i* const c = blocks.word;
  const __m256i lower = _mm256_blend_epi32(c[0], _mm256_slli_epi64(c[1], 32), 0b10101010);
  const __m256i upper = _mm256_blend_epi32(c[2], _mm256_slli_epi64(c[3], 32), 0b10101010);
  auto* const to = reinterpret_cast<__m256i*>(words);
  _mm256_storeu_si256(to, _mm256_unpacklo_epi64(lower, upper));
  _mm256_storeu_si256(to + 1, _mm256_unpackhi_epi64(lower, upper));
}

/// Whole groups of twelve blocks, as many as registers hold, so that one waits for its products while others go on;
/// returns how many blocks that were.
[[gnu::target("avx2")]] std::int64_t philox_words_avx2(const PhiloxStream& stream, std::uint64_t first,
                                                       std::int64_t blocks, std::uint32_t* words) {
  constexpr int parts = 3;
  static_assert(philox_words_at_once == 16 * parts);
  const std::int64_t whole = blocks - blocks % (4 * parts);
  for (std::int64_t i = 0; i < whole; i += 4 * parts) {
    FourBlocks group[parts];
#pragma GCC unroll 3
    for (int part = 0; part < parts; ++part) {
      group[part] = counters(stream, first + static_cast<std::uint64_t>(i + 4 * part));
    }
    __m256i key0 = _mm256_set1_epi64x(stream.key0);
    __m256i key1 = _mm256_set1_epi64x(stream.key1);
#pragma GCC unroll 1
    for (int round = 0; round < 10; ++round) {
#pragma GCC unroll 3
      for (FourBlocks& part : group) run_round(part, key0, key1);
      key0 = _mm256_add_epi64(key0, _mm256_set1_epi64x(0x9E3779B9));
      key1 = _mm256_add_epi64(key1, _mm256_set1_epi64x(0xBB67AE85));
    }
#pragma GCC unroll 3
    for (int part = 0; part < parts; ++part) store(group[part], words + 4 * i + 16 * part);
  }
  return whole;
}

#endif

}  // namespace

void philox_words(Instructions instructions, const PhiloxStream& stream, std::uint64_t first, std::int64_t blocks,
                  std::uint32_t* words) {
  std::int64_t done = 0;
#if defined(__x86_64__)
  if (instructions == Instructions::avx2) done = philox_words_avx2(stream, first, blocks, words);
#endif
  for (std::int64_t i = done; i < blocks; ++i) {
    philox_block(stream, first + static_cast<std::uint64_t>(i), words + 4 * i);
  }
}

}  // namespace trigram
