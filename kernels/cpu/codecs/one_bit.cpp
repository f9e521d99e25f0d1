// one_bit on host memory.
#include "kernels/codecs/one_bit.hpp"

#include <algorithm>

#include "kernels/cpu/codecs/codec.hpp"
#include "kernels/cpu/tree_sum.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace trigram {
namespace {

/// Eight flags of 0 or 1, one a byte, as the bits of one byte; the product moves flag j to bit 56 + j.
TRIGRAM_RULE std::uint8_t eight_bits(const std::uint8_t* flags) {
  std::uint64_t word = 0;
  for (unsigned j = 0; j < 8; ++j) word |= static_cast<std::uint64_t>(flags[j]) << (8 * j);
  return static_cast<std::uint8_t>(word * 0x0102040810204080U >> 56U);
}

/// Bit i of `bits` says whether values[i] < 0; bits after the last one are 0.
void write_signs(const float* values, std::int64_t count, std::uint8_t* bits) {
  for (std::int64_t begin = 0; begin < count; begin += 8) {
    const std::int64_t size = std::min<std::int64_t>(8, count - begin);
    std::uint8_t flags[8] = {};
    for (std::int64_t i = 0; i < size; ++i) flags[i] = values[begin + i] < 0.0F ? 1 : 0;
    bits[begin / 8] = eight_bits(flags);
  }
}

#if defined(__x86_64__)
/// The same, eight at once.
[[gnu::target("avx2")]] void write_signs_avx2(const float* values, std::int64_t count, std::uint8_t* bits) {
  const std::int64_t whole = count - count % 8;
  for (std::int64_t i = 0; i < whole; i += 8) {
    const __m256 negative = _mm256_cmp_ps(_mm256_loadu_ps(values + i), _mm256_setzero_ps(), _CMP_LT_OQ);
    bits[i / 8] = static_cast<std::uint8_t>(_mm256_movemask_ps(negative));
  }
  write_signs(values + whole, count - whole, bits + whole / 8);
}
#endif

void write_signs(Instructions instructions, const float* values, std::int64_t count, std::uint8_t* bits) {
#if defined(__x86_64__)
  if (instructions == Instructions::avx2) return write_signs_avx2(values, count, bits);
#endif
  write_signs(values, count, bits);
}

class OneBit final : public CpuCodec<OneBit, OneBitModel> {
 public:
  /// One pass: signs are taken while a block of the tree is in the cache.
  void encode_values(Instructions instructions, const float* values, std::uint8_t* frame, std::int64_t count,
                     const Key&) const {
    TreeSum sum;
    for (std::int64_t begin = 0; begin < count; begin += scalar::tree_block) {
      const std::int64_t size = std::min(scalar::tree_block, count - begin);
      const float* const block = values + begin;
      double magnitudes = 0.0;
      vectorised(instructions, [block, size, &magnitudes]() TRIGRAM_INLINE {
        magnitudes = tree_block_sum(size, [block](std::int64_t i) TRIGRAM_INLINE {
          return static_cast<double>(scalar::from_bits(scalar::magnitude(block[i])));
        });
      });
      sum.add(magnitudes);
      write_signs(instructions, block, size, frame + header_bytes + begin / 8);
    }
    put(frame, one_bit_scale(sum.total(), count));
  }

  template <class Sink>
  void decode_values(Instructions instructions, const std::uint8_t* frame, float* values, std::int64_t count,
                     const Key&, const Sink& sink) const {
    const std::uint32_t scale = scalar::bits_of(load<float>(frame));
    const std::uint8_t* bits = frame + header_bytes;
    vectorised(instructions, [=]() TRIGRAM_INLINE {
      const std::int64_t whole = count - count % 8;
      for (std::int64_t begin = 0; begin < whole; begin += 8) {
        const std::uint32_t byte = bits[begin / 8];
        for (std::uint32_t j = 0; j < 8; ++j) sink(one_bit_value(scale, byte, j), values[begin + j]);
      }
      for (std::int64_t i = whole; i < count; ++i) {
        sink(one_bit_value(scale, bits[whole / 8], static_cast<std::uint32_t>(i - whole)), values[i]);
      }
    });
  }
};

const Codecs::Registration registration("cpu/one_bit", OneBitModel::description(),
                                        [](Params&) { return std::make_unique<OneBit>(); });

}  // namespace
}  // namespace trigram
