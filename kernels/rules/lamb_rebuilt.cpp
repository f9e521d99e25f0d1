// 1-bit LAMB's second moment of gradients that are rebuilt from two first moments:
//   g̃ = (m − β₁ m') / (1−β₁);  ṽ ← β₂ ṽ + (1−β₂) g̃²
#include "kernels/elementwise.hpp"

namespace trigram {
namespace {

struct LambRebuilt {
  static constexpr double flops = 7;
  static constexpr bool f32_only = true;
  float beta1, beta2;

  TRIGRAM_RULE void operator()(float first, float before, float& fresh) const {
    const float gradient = (first - beta1 * before) / (1.0F - beta1);
    fresh = beta2 * fresh + (1.0F - beta2) * (gradient * gradient);
  }
};

const Elementwise<LambRebuilt>::Registration registration("lamb_rebuilt",
                                                          "a second moment of gradients rebuilt from first moments");

}  // namespace
}  // namespace trigram
