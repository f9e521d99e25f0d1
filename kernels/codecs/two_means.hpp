// The sign with two scales: elements below 0 become their mean, all others theirs, as in 1-bit SGD, which has a pair a
// column of a matrix where this has one a vector. No two values for the signs have a smaller error.
//   ‖x − x̂‖² = ‖x‖² − (Σ₊x)²/d₊ − (Σ₋x)²/d₋, a contraction that loses no more than one_bit: ≤ (1 − 1/d)‖x‖²
// Frame: the mean of those from 0 on and of those below as f32, 0 where there are none, then one bit an element, 1 for
// x < 0, lowest bit first: 8 + ⌈d/8⌉ bytes; of an empty vector none. A NaN or an infinity makes its mean so; a NaN is
// none below 0. (Seide et al., Interspeech 2014.)
#pragma once

#include "core/device/codec.hpp"
#include "kernels/scalar.hpp"

namespace trigram {

/// What an element adds to the sum of its side, and to that of the other; sums go by the fixed tree.
TRIGRAM_RULE double two_means_term(float x, bool below) { return (x < 0.0F) == below ? static_cast<double>(x) : 0.0; }
/// The mean of a side that has so many elements; every NaN is the same one.
TRIGRAM_RULE float two_means_mean(double sum, std::int64_t count) {
  const auto mean = static_cast<float>(sum / static_cast<double>(count));
  return count == 0 ? 0.0F : scalar::with_one_nan(mean);
}

/// Sizes of the frame.
class TwoMeansModel : public Codec {
 public:
  static constexpr std::int64_t header_bytes = 8;
  static Description description() {
    return {"the sign with two scales, the means of either side of 0",
            "Seide et al., 1-bit stochastic gradient descent, Interspeech 2014"};
  }

  std::int64_t encoded_bytes(std::int64_t count) const override {
    return count == 0 ? 0 : header_bytes + (count + 7) / 8;
  }
  CodecProperties properties(std::int64_t count) const override {
    return {.contraction = true, .bound = count == 0 ? 0.0 : 1.0 - 1.0 / static_cast<double>(count)};
  }
  /// Sums of both sides and signs: on a GPU a pass each.
  CodecTraffic traffic(std::int64_t count) const override {
    return CodecTraffic::dense(8 * count + encoded_bytes(count), encoded_bytes(count), count);
  }
};

}  // namespace trigram
