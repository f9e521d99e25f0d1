// Adam (Kingma & Ba 2015) and AdamW (Loshchilov & Hutter 2019): m ← β₁ m + (1−β₁) g;  v ← β₂ v + (1−β₂) g²;
//   w ← weight_factor w − lr/(1−β₁ᵗ) · m / (√v/√(1−β₂ᵗ) + ε)
// Adam adds gradient_decay w to g, AdamW shortens w by its factor.
#include "kernels/elementwise.hpp"

namespace trigram {
namespace {

struct Adam {
  static constexpr double flops = 14;
  static constexpr bool f32_only = true;
  static constexpr bool in_parts = true;
  float gradient_decay, weight_factor;
  float beta1, rest1, beta2, rest2;
  float step_size, root_correction, epsilon;

  TRIGRAM_RULE void operator()(float gradient, float& first, float& second, float& weight) const {
    const float direction = gradient + gradient_decay * weight;
    first = beta1 * first + rest1 * direction;
    second = beta2 * second + rest2 * (direction * direction);
    const float root = std::sqrt(second) / root_correction + epsilon;
    weight = weight_factor * weight - step_size * (first / root);
  }
};

const Elementwise<Adam>::Registration registration("adam", "one step of Adam or AdamW");

}  // namespace
}  // namespace trigram
