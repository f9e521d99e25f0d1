// By how much 1-bit LAMB corrects a layer's step: 1 + share (largest − 1), in [least, most] and within `step` of r
// before.
#include "kernels/elementwise.hpp"

namespace trigram {
namespace {

struct LambFactor {
  static constexpr double flops = 8;
  static constexpr bool f32_only = true;
  float least, most, step;

  TRIGRAM_RULE void operator()(float largest, float share, float& factor) const {
    const float wanted = (largest - 1.0F) * share + 1.0F;
    const float clipped = wanted < least ? least : wanted > most ? most : wanted;
    const float highest = factor * (1.0F + step), lowest = factor * (1.0F - step);
    factor = clipped > highest ? highest : clipped < lowest ? lowest : clipped;
  }
};

const Elementwise<LambFactor>::Registration registration("lamb_factor", "the correction of a layer's step");

}  // namespace
}  // namespace trigram
