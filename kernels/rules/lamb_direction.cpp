// LAMB's direction before the penalty on weights: u ← m / (√v + ε).
#include "kernels/elementwise.hpp"

namespace trigram {
namespace {

struct LambDirection {
  static constexpr double flops = 3;
  static constexpr bool f32_only = true;
  float epsilon;

  TRIGRAM_RULE void operator()(float first, float second, float& direction) const {
    direction = first / (std::sqrt(second) + epsilon);
  }
};

const Elementwise<LambDirection>::Registration registration("lamb_direction", "the direction of LAMB's step");

}  // namespace
}  // namespace trigram
