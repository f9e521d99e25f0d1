// Bagua's MinMaxUInt8 (Gan et al., VLDB 2021, arXiv:2107.01499): 256 levels between a vector's minimum and maximum, on
// a grid through 0.
//   s = 255 / (max − min + 1e-7),  U = rint(max·s),  L = U − 255
//   level = clamp(min(rint(x·s), U) − L, 0, 255),  x̂ = (level + L) / s
// Frame: min and max as f32, zeros up to byte 32, one byte an element, zeros up to a multiple of 32:
// 32 + 32·⌈d/32⌉ bytes. Biased; |x − x̂| ≤ (max − min + 1e-7)/510, and 0 stays 0 where min ≤ 0 ≤ max.
// Levels that Bagua's kernel lets wrap around are clamped. A vector with a NaN, an infinity or a range that f32 cannot
// hold has NaN as min and max and decodes to NaN. A constant so large that max·s overflows decodes exactly. Ranges far
// under 1e-7 use few levels, and vanish under 2e-10.
#pragma once

#include "core/device/codec.hpp"
#include "kernels/scalar.hpp"

namespace trigram {

/// What the header of a frame says.
struct ValueRange {
  float smallest = 0;
  float largest = 0;
};

/// The header for values between `smallest` and `largest`, where `finite` says that all are. A zero is written as +0,
/// so that the order in which zeros of either sign were seen does not show.
TRIGRAM_RULE ValueRange minmax_header(float smallest, float largest, bool finite) {
  const bool fits = finite && scalar::magnitude(largest - smallest) < scalar::infinity_bits;
  return {fits ? smallest + 0.0F : scalar::nan(), fits ? largest + 0.0F : scalar::nan()};
}

/// Sizes of the frame.
class MinMaxUint8Model : public Codec {
 public:
  static constexpr std::int64_t header_bytes = 32;
  static std::int64_t payload_bytes(std::int64_t count) { return (count + 31) / 32 * 32; }
  static Description description() {
    return {"256 levels between minimum and maximum, Bagua's frame", "Gan et al., Bagua, VLDB 2021, arXiv:2107.01499"};
  }

  std::int64_t encoded_bytes(std::int64_t count) const override {
    return count == 0 ? 0 : header_bytes + payload_bytes(count);
  }
  CodecProperties properties(std::int64_t count) const override {
    const double bound = static_cast<double>(count) / 65025.0;
    return {.contraction = bound < 1, .bound = bound};
  }
  CodecTraffic traffic(std::int64_t count) const override {
    return CodecTraffic::dense(8 * count + encoded_bytes(count), encoded_bytes(count), count);
  }
};

}  // namespace trigram
