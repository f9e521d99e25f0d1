// Natural compression: sign and exponent are kept, and the fraction decides at random whether the exponent grows by
// one.
//   |x| between 2^e and 2^(e+1) becomes 2^(e+1) with probability |x|/2^e − 1, else 2^e: unbiased, E‖x − x̂‖² ≤ ‖x‖²/8
// Under 2^-126 it is 0 or 2^-126, unbiased with an error of at most 2^-126. From 2^127 on it is 2^127. Infinities and
// NaN become NaN. A power of two stays, and so does 0.
// Frame: one exponent of a byte an element, then one sign of a bit, lowest bit first: d + ⌈d/8⌉ bytes.
#include <algorithm>

#include "core/random.hpp"
#include "kernels/cpu/codec.hpp"
#include "kernels/cpu/philox_words.hpp"

namespace trigram {
namespace {

class NaturalModel : public Codec {
 public:
  std::int64_t encoded_bytes(std::int64_t count) const override { return count + (count + 7) / 8; }
  CodecProperties properties(std::int64_t) const override {
    return {.unbiased = true, .contraction = true, .bound = 0.125};
  }
  CodecTraffic traffic(std::int64_t count) const override {
    return CodecTraffic::dense(4 * count + encoded_bytes(count), encoded_bytes(count), count);
  }
};

/// The exponent of `value` in f32's bits, one more where a random word is less than its fraction.
TRIGRAM_RULE std::uint32_t natural_exponent(float value, std::uint32_t word) {
  constexpr std::uint32_t fraction_bits = 23, largest = 254;
  const std::uint32_t magnitude = scalar::magnitude(value), exponent = magnitude >> fraction_bits;
  if (exponent > largest) return exponent;
  const std::uint32_t grown = exponent + (word >> 9U < (magnitude & 0x7fffffU) ? 1U : 0U);
  return grown > largest ? largest : grown;
}

TRIGRAM_RULE float natural_value(std::uint32_t exponent, std::uint32_t negative) {
  return exponent == 255 ? scalar::from_bits(0x7fc00000U) : scalar::from_bits(negative << 31U | exponent << 23U);
}

class Natural final : public CpuCodec<Natural, NaturalModel> {
 public:
  void encode_values(Instructions instructions, const float* values, std::uint8_t* frame, std::int64_t count,
                     const Key& key) const {
    constexpr std::int64_t tile = 768;
    static_assert(tile % philox_words_at_once == 0 && tile % 8 == 0);
    const PhiloxStream stream{Philox(key)};
    std::fill_n(frame + count, (count + 7) / 8, std::uint8_t{0});
    for (std::int64_t begin = 0; begin < count; begin += tile) {
      const std::int64_t end = std::min(count, begin + tile);
      std::uint32_t words[tile];
      philox_words(instructions, stream, static_cast<std::uint64_t>(begin / 4), (end - begin + 3) / 4, words);
      for (std::int64_t i = begin; i < end; ++i) {
        frame[i] = static_cast<std::uint8_t>(natural_exponent(values[i], words[i - begin]));
        const std::uint32_t sign = scalar::bits_of(values[i]) >> 31U << static_cast<std::uint32_t>(i % 8);
        frame[count + i / 8] = static_cast<std::uint8_t>(frame[count + i / 8] | sign);
      }
    }
  }

  template <class Sink>
  void decode_values(Instructions instructions, const std::uint8_t* frame, float* values, std::int64_t count,
                     const Key&, const Sink& sink) const {
    const std::uint8_t* const signs = frame + count;
    vectorised(instructions, [=]() TRIGRAM_INLINE {
      for (std::int64_t i = 0; i < count; ++i) {
        const std::uint32_t negative = std::uint32_t{signs[i / 8]} >> static_cast<std::uint32_t>(i % 8) & 1U;
        sink(natural_value(frame[i], negative), values[i]);
      }
    });
  }
};

const Codecs::Registration registration(
    "cpu/natural",
    {"random rounding to powers of two",
     "Horváth et al., Natural compression for distributed deep learning, MSML 2022, arXiv:1905.10988"},
    [](Params&) { return std::make_unique<Natural>(); });

}  // namespace
}  // namespace trigram
