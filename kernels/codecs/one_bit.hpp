// The sign with one scale: x̂_i = ±‖x‖₁/d, + for 0, the scale that makes the error smallest.
//   ‖x − x̂‖² = ‖x‖² − ‖x‖₁²/d exactly, a contraction with 1 − ‖x‖₁²/(d‖x‖²) ≤ 1 − 1/d
// Frame: the scale as f32, then one bit an element, 1 for x < 0, lowest bit first: 4 + ⌈d/8⌉ bytes. A vector with a NaN
// or an infinity decodes to NaN. (Karimireddy et al., ICML 2019, arXiv:1901.09847, after Seide et al., Interspeech
// 2014.)
#pragma once

#include "core/device/codec.hpp"
#include "kernels/scalar.hpp"

namespace trigram {

/// ‖x‖₁/d of a sum of magnitudes by the fixed tree, NaN where that is not finite.
TRIGRAM_RULE float one_bit_scale(double sum, std::int64_t count) {
  const auto mean = static_cast<float>(sum / static_cast<double>(count));
  return scalar::magnitude(mean) < scalar::infinity_bits ? mean : scalar::nan();
}

/// The value of bit `place` of `word` with the scale's bits.
TRIGRAM_RULE float one_bit_value(std::uint32_t scale, std::uint32_t word, std::uint32_t place) {
  return scalar::from_bits(scale | (word >> place & 1U) << 31U);
}

/// Sizes of the frame.
class OneBitModel : public Codec {
 public:
  static constexpr std::int64_t header_bytes = 4;
  static Description description() {
    return {"the sign with one scale, the mean magnitude", "Karimireddy et al., ICML 2019, arXiv:1901.09847"};
  }

  std::int64_t encoded_bytes(std::int64_t count) const override {
    return count == 0 ? 0 : header_bytes + (count + 7) / 8;
  }
  CodecProperties properties(std::int64_t count) const override {
    return {.contraction = true, .bound = count == 0 ? 0.0 : 1.0 - 1.0 / static_cast<double>(count)};
  }
  CodecTraffic traffic(std::int64_t count) const override {
    return CodecTraffic::dense(8 * count + encoded_bytes(count), encoded_bytes(count), count);
  }
};

}  // namespace trigram
