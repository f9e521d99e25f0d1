// one_bit on host memory.
#include "kernels/codecs/one_bit.hpp"

#include <algorithm>

#include "kernels/cpu/codec.hpp"
#include "kernels/cpu/tree_sum.hpp"

namespace trigram {
namespace {

float mean_magnitude(Instructions instructions, const float* values, std::int64_t count) {
  double sum = 0.0;
  vectorised(instructions, [=, &sum]() TRIGRAM_INLINE {
    sum = tree_sum(count, [values](std::int64_t i) TRIGRAM_INLINE {
      return static_cast<double>(scalar::from_bits(scalar::magnitude(values[i])));
    });
  });
  return one_bit_scale(sum, count);
}

/// Eight flags of 0 or 1, one a byte, as the bits of one byte; the product moves flag j to bit 56 + j.
TRIGRAM_RULE std::uint8_t eight_bits(const std::uint8_t* flags) {
  std::uint64_t word = 0;
  for (unsigned j = 0; j < 8; ++j) word |= static_cast<std::uint64_t>(flags[j]) << (8 * j);
  return static_cast<std::uint8_t>(word * 0x0102040810204080U >> 56U);
}

class OneBit final : public CpuCodec<OneBit, OneBitModel> {
 public:
  void encode_values(Instructions instructions, const float* values, std::uint8_t* frame, std::int64_t count,
                     const Key&) const {
    constexpr std::int64_t tile = 1024;
    put(frame, mean_magnitude(instructions, values, count));
    std::uint8_t* bits = frame + header_bytes;
    vectorised(instructions, [=]() TRIGRAM_INLINE {
      for (std::int64_t begin = 0; begin < count; begin += tile) {
        alignas(64) std::uint8_t flags[tile] = {};
        const std::int64_t size = std::min(tile, count - begin);
        for (std::int64_t i = 0; i < size; ++i) flags[i] = values[begin + i] < 0.0F ? 1 : 0;
        for (std::int64_t i = 0; i < size; i += 8) bits[(begin + i) / 8] = eight_bits(flags + i);
      }
    });
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
