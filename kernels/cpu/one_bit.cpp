// The sign with one scale: x̂_i = ±‖x‖₁/d, + for 0, the scale that makes the error smallest.
//   ‖x − x̂‖² = ‖x‖² − ‖x‖₁²/d exactly, a contraction with 1 − ‖x‖₁²/(d‖x‖²) ≤ 1 − 1/d
// Frame: the scale as f32, then one bit an element, 1 for x < 0, lowest bit first: 4 + ⌈d/8⌉ bytes. A vector with a NaN
// or an infinity decodes to NaN. (Karimireddy et al., ICML 2019, arXiv:1901.09847, after Seide et al., Interspeech
// 2014.)
#include <algorithm>
#include <array>
#include <limits>

#include "kernels/cpu/codec.hpp"
#include "kernels/cpu/tree_sum.hpp"

namespace trigram {
namespace {

constexpr std::int64_t header_bytes = 4;

/// ‖x‖₁/d, NaN where that is not finite.
float mean_magnitude(Instructions instructions, const float* values, std::int64_t count) {
  double sum = 0.0;
  vectorised(instructions, [=, &sum]() TRIGRAM_INLINE {
    sum = tree_sum(count, [values](std::int64_t i) TRIGRAM_INLINE {
      return static_cast<double>(scalar::from_bits(scalar::magnitude(values[i])));
    });
  });
  const auto mean = static_cast<float>(sum / static_cast<double>(count));
  return scalar::magnitude(mean) < scalar::infinity_bits ? mean : std::numeric_limits<float>::quiet_NaN();
}

/// Eight flags of 0 or 1, one a byte, as the bits of one byte; the product moves flag j to bit 56 + j.
TRIGRAM_RULE std::uint8_t eight_bits(const std::uint8_t* flags) {
  std::uint64_t word = 0;
  for (unsigned j = 0; j < 8; ++j) word |= static_cast<std::uint64_t>(flags[j]) << (8 * j);
  return static_cast<std::uint8_t>(word * 0x0102040810204080U >> 56U);
}

class OneBit final : public CpuCodec<OneBit> {
 public:
  std::int64_t encoded_bytes(std::int64_t count) const override {
    return count == 0 ? 0 : header_bytes + (count + 7) / 8;
  }
  CodecProperties properties(std::int64_t count) const override {
    return {.contraction = true, .bound = count == 0 ? 0.0 : 1.0 - 1.0 / static_cast<double>(count)};
  }
  CodecTraffic traffic(std::int64_t count) const override {
    return {static_cast<double>(8 * count + encoded_bytes(count)),
            static_cast<double>(encoded_bytes(count) + 4 * count)};
  }

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
      const auto value = [=](std::uint32_t byte, std::uint32_t j)
                             TRIGRAM_INLINE { return scalar::from_bits(scale | (byte >> j & 1U) << 31U); };
      const std::int64_t whole = count - count % 8;
      for (std::int64_t begin = 0; begin < whole; begin += 8) {
        const std::uint32_t byte = bits[begin / 8];
        for (std::uint32_t j = 0; j < 8; ++j) sink(value(byte, j), values[begin + j]);
      }
      for (std::int64_t i = whole; i < count; ++i) {
        sink(value(bits[whole / 8], static_cast<std::uint32_t>(i - whole)), values[i]);
      }
    });
  }
};

const Codecs::Registration registration("cpu/one_bit",
                                        {"the sign with one scale, the mean magnitude",
                                         "Karimireddy et al., ICML 2019, arXiv:1901.09847"},
                                        [](Params&) { return std::make_unique<OneBit>(); });

}  // namespace
}  // namespace trigram
