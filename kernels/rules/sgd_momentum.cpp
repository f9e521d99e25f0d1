// SGD with momentum, as PyTorch defines it: d = g + weight_decay w;  u ← momentum u + (1 − dampening) d, d in the first
// step;  w ← w − lr (nesterov ? d + momentum u : u).
#include "kernels/elementwise.hpp"

namespace trigram {
namespace {

struct SgdMomentum {
  static constexpr double flops = 6;
  static constexpr bool f32_only = true;
  static constexpr bool in_parts = true;
  float learning_rate, momentum, dampening, weight_decay;
  bool nesterov, first_step;

  TRIGRAM_RULE void operator()(float gradient, float& velocity, float& weight) const {
    const float direction = gradient + weight_decay * weight;
    const float moved = momentum * velocity + (1.0F - dampening) * direction;
    velocity = first_step ? direction : moved;
    weight -= learning_rate * (nesterov ? direction + momentum * velocity : velocity);
  }
};

const Elementwise<SgdMomentum>::Registration registration("sgd_momentum", "one step of SGD with momentum");

}  // namespace
}  // namespace trigram
