// SGD without momentum: w ← w − lr (g + weight_decay w).
#include "kernels/elementwise.hpp"

namespace trigram {
namespace {

struct Sgd {
  static constexpr double flops = 4;
  static constexpr bool f32_only = true;
  static constexpr bool in_parts = true;
  float learning_rate, weight_decay;

  TRIGRAM_RULE void operator()(float gradient, float& weight) const {
    weight -= learning_rate * (gradient + weight_decay * weight);
  }
};

const Elementwise<Sgd>::Registration registration("sgd", "one step of SGD");

}  // namespace
}  // namespace trigram
