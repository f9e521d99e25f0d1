// Natural compression: sign and exponent are kept, and the fraction decides at random whether the exponent grows by
// one.
//   |x| between 2^e and 2^(e+1) becomes 2^(e+1) with probability |x|/2^e − 1, else 2^e: unbiased, E‖x − x̂‖² ≤ ‖x‖²/8
// Under 2^-126 it is 0 or 2^-126, unbiased with an error of at most 2^-126. From 2^127 on it is 2^127. Infinities and
// NaN become NaN, whose sign is written as 0. A power of two stays, and so does 0.
// Frame: one exponent of a byte an element, then one sign of a bit, lowest bit first: d + ⌈d/8⌉ bytes.
#pragma once

#include "core/device/codec.hpp"
#include "kernels/scalar.hpp"

namespace trigram {

/// The exponent of `value` in f32's bits, one more where a random word is less than its fraction.
TRIGRAM_RULE std::uint32_t natural_exponent(float value, std::uint32_t word) {
  constexpr std::uint32_t fraction_bits = 23, largest = 254;
  const std::uint32_t magnitude = scalar::magnitude(value), exponent = magnitude >> fraction_bits;
  if (exponent > largest) return exponent;
  const std::uint32_t grown = exponent + (word >> 9U < (magnitude & 0x7fffffU) ? 1U : 0U);
  return grown > largest ? largest : grown;
}

/// The sign that a frame has of it.
TRIGRAM_RULE std::uint32_t natural_sign(float value) {
  return scalar::magnitude(value) < scalar::infinity_bits ? scalar::bits_of(value) >> 31U : 0U;
}

TRIGRAM_RULE float natural_value(std::uint32_t exponent, std::uint32_t negative) {
  return exponent == 255 ? scalar::nan() : scalar::from_bits(negative << 31U | exponent << 23U);
}

/// Sizes of the frame.
class NaturalModel : public Codec {
 public:
  static Description description() {
    return {"random rounding to powers of two",
            "Horváth et al., Natural compression for distributed deep learning, MSML 2022, arXiv:1905.10988"};
  }

  std::int64_t encoded_bytes(std::int64_t count) const override { return count + (count + 7) / 8; }
  CodecProperties properties(std::int64_t) const override {
    return {.unbiased = true, .contraction = true, .bound = 0.125};
  }
  CodecTraffic traffic(std::int64_t count) const override {
    return CodecTraffic::dense(4 * count + encoded_bytes(count), encoded_bytes(count), count);
  }
};

}  // namespace trigram
