// The moments of LAMB, which are not corrected for their begin: m ← β₁ m + (1−β₁) g;  v ← β₂ v + (1−β₂) g².
#include "kernels/elementwise.hpp"

namespace trigram {
namespace {

struct LambMoments {
  static constexpr double flops = 7;
  static constexpr bool f32_only = true;
  float beta1, beta2;

  TRIGRAM_RULE void operator()(float gradient, float& first, float& second) const {
    first = beta1 * first + (1.0F - beta1) * gradient;
    second = beta2 * second + (1.0F - beta2) * (gradient * gradient);
  }
};

const Elementwise<LambMoments>::Registration registration("lamb_moments", "both moments of LAMB");

}  // namespace
}  // namespace trigram
