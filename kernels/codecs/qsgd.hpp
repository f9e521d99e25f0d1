// QSGD (Alistarh et al., NeurIPS 2017, arXiv:1610.02132), by buckets: with a = s|x_i|/‖x‖ of a bucket of b elements,
// level ⌊a⌋ + 1 with probability a − ⌊a⌋, else ⌊a⌋;  x̂_i = sgn(x_i)·level·‖x‖/s.
// By default codes are whole bytes and the norm is the largest magnitude: the same bytes as with the paper's 2-norm,
// and of 512 uniform values 170 times less variance.
//   unbiased; the variance of an element is (‖x‖/s)² f(1 − f), f = frac(a); bound min(b/s², √b/s) with the 2-norm,
//   min(b/(4s²), √b/s) with the max-norm. Rounded to nearest instead: biased, ‖x − x̂‖² ≤ b/(4s²)‖x‖².
// Frame: one f32 norm a bucket, then a code an element, sign in the lowest bit and level above it, of
// w = 1 + ⌈log₂(s+1)⌉ bits without gaps: 4⌈d/b⌉ + ⌈d·w/8⌉ bytes. A bucket with a NaN, an infinity or a norm that f32
// cannot hold has the norm NaN and codes of 0, and decodes to NaN.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>

#include "core/device/codec.hpp"
#include "core/values/error.hpp"
#include "core/values/quoted.hpp"
#include "kernels/scalar.hpp"

namespace trigram {

TRIGRAM_RULE float qsgd_finite_or_nan(float norm) {
  return scalar::magnitude(norm) < scalar::infinity_bits ? norm : scalar::nan();
}

/// The 2-norm of a bucket, from its sum of squares by the fixed tree.
TRIGRAM_RULE float qsgd_two_norm(double squares) { return qsgd_finite_or_nan(static_cast<float>(std::sqrt(squares))); }

/// The code of a value rounded by `draw`, which is uniform on [0, 1), or ½ to round to nearest; 0 where the norm is
/// NaN.
TRIGRAM_RULE std::uint32_t qsgd_code(float value, float norm, float levels, float draw) {
  const std::uint32_t code = scalar::qsgd_level(value, norm, levels, draw) << 1U | scalar::bits_of(value) >> 31U;
  return norm == norm ? code : 0U;
}

/// The draw of a random word: its upper 24 bits.
TRIGRAM_RULE float qsgd_draw(std::uint32_t word) {
  return static_cast<float>(static_cast<std::int32_t>(word >> 8U)) * 0x1p-24F;
}

/// The value of a code where step = norm/s.
TRIGRAM_RULE float qsgd_value(std::uint32_t code, float step) {
  const float size = step * static_cast<float>(static_cast<std::int32_t>(code >> 1U));
  return scalar::from_bits(scalar::bits_of(size) | code << 31U);
}

/// Parameters and sizes of the frame.
class QsgdModel : public Codec {
 public:
  explicit QsgdModel(Params& params)
      : levels_(params.get("levels", 127, "levels s beside 0, of either sign")),
        bucket_(params.get("bucket_size", std::int64_t{512}, "elements that share a norm; 0: all",
                           {0, std::int64_t{1} << 40})),
        stochastic_(params.get("stochastic", true, "round at random, which makes it unbiased")) {
    const std::string norm = params.get("norm", "max", "norm of a bucket: 2 or max");
    require(levels_ >= 1 && levels_ <= 32767,
            params.owner() + ": levels=" + std::to_string(levels_) + " is not between 1 and 32767");
    require(norm == "2" || norm == "max", params.owner() + ": norm=" + shown(norm) + " is neither 2 nor max");
    max_norm_ = norm == "max";
  }
  static Description description() {
    return {"random rounding to s levels of a bucket's norm", "Alistarh et al., QSGD, NeurIPS 2017, arXiv:1610.02132"};
  }

  std::int64_t encoded_bytes(std::int64_t count) const override {
    return header_bytes(count) + (count * width() + 7) / 8;
  }
  CodecProperties properties(std::int64_t count) const override {
    const auto size = static_cast<double>(bucket_ == 0 ? count : std::min(count, bucket_));
    const double step = 1.0 / levels_;
    if (!stochastic_) return {.contraction = size * step * step / 4 < 1, .bound = size * step * step / 4};
    const double bound = std::min(size * step * step / (max_norm_ ? 4 : 1), std::sqrt(size) * step);
    return {.unbiased = true, .contraction = bound < 1, .bound = bound};
  }
  /// A bucket is read once where it fits into fast memory, else twice.
  CodecTraffic traffic(std::int64_t count) const override {
    const int reads = bucket_ > 0 && bucket_ <= 8192 ? 1 : 2;
    return CodecTraffic::dense(4 * reads * count + encoded_bytes(count), encoded_bytes(count), count);
  }

 protected:
  int levels() const { return levels_; }
  bool stochastic() const { return stochastic_; }
  bool max_norm() const { return max_norm_; }
  /// Bits of a code.
  int width() const { return 1 + std::bit_width(static_cast<unsigned>(levels_)); }
  std::int64_t bucket_of(std::int64_t count) const { return bucket_ == 0 ? std::max<std::int64_t>(count, 1) : bucket_; }
  std::int64_t header_bytes(std::int64_t count) const {
    return 4 * ((count + bucket_of(count) - 1) / bucket_of(count));
  }

 private:
  int levels_;
  std::int64_t bucket_;
  bool stochastic_;
  bool max_norm_ = false;
};

}  // namespace trigram
