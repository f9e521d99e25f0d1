// Values modulo B, for ranks that know each other's values up to θ: Moniqua (Lu & De Sa, ICML 2020, arXiv:2002.11787).
// A value is the multiple k of the step s = θ/126 nearest to it, and of k only the residue modulo 255 is kept, from
// −127 to 127: B = 255 s. So one vector alone cannot be read back, but the difference of two can: where |x − y| ≤ θ,
// their multiples differ by at most 127, and residue(residue(k) − residue(l)) = k − l exactly.
//   |x − x̂| ≤ s/2 where |x| ≤ θ, up to the rounding of x/s; ‖x − x̂‖² ≤ 4 ‖x‖² everywhere: no contraction. What adds up
// frames of one vector each, as a mean of gradients does, is wrong beyond θ.
// C(−x) = −C(x). NaN, infinities and what is 2^30 steps or more from 0 become NaN; an empty vector has an empty frame.
// Frame: a byte an element, in order.
#pragma once

#include "core/device/codec.hpp"
#include "kernels/scalar.hpp"

namespace trigram {

/// The grid of a θ.
struct ModuloGrid {
  static constexpr std::int32_t residues = 255;
  static constexpr std::int8_t no_number = -128;
  float step = 0, steps_per_unit = 0;

  TRIGRAM_RULE std::int8_t residue(float x) const {
    const float exact = scalar::round_half_even(x * steps_per_unit);
    const bool known = scalar::magnitude(exact) < scalar::bits_of(0x1p30F);
    const float index = known ? exact : 0.0F;
    // The quotient is off by a half at most, which one correction mends.
    const auto turns = static_cast<std::int32_t>(scalar::round_half_even(index * (1.0F / residues)));
    std::int32_t left = static_cast<std::int32_t>(index) - residues * turns;
    left += left < -(residues / 2) ? residues : 0;
    left -= left > residues / 2 ? residues : 0;
    return static_cast<std::int8_t>(known ? left : no_number);
  }
  TRIGRAM_RULE float value(std::int8_t residue) const {
    const float number = static_cast<float>(residue) * step;
    return residue == no_number ? scalar::nan() : number;
  }
};

/// Parameters and sizes of the frame.
class ModuloModel : public Codec {
 public:
  explicit ModuloModel(Params& params) {
    const double theta =
        params.get("theta", 1.0, "largest difference of a value between two ranks", {.least = 1e-20, .most = 1e20});
    grid_ = {static_cast<float>(theta / 126), static_cast<float>(126 / theta)};
  }
  static Description description() {
    return {"values modulo twice theta, for ranks that are no further apart",
            "Lu & De Sa, Moniqua: modulo quantized communication in decentralized SGD, ICML 2020, arXiv:2002.11787"};
  }

  std::int64_t encoded_bytes(std::int64_t count) const override { return count; }
  CodecProperties properties(std::int64_t) const override { return {.bound = 4}; }
  CodecTraffic traffic(std::int64_t count) const override {
    return CodecTraffic::dense(4 * count + encoded_bytes(count), encoded_bytes(count), count);
  }

 protected:
  const ModuloGrid& grid() const { return grid_; }

 private:
  ModuloGrid grid_;
};

}  // namespace trigram
