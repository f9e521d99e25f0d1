// A linear combination: y ← a x + b y.
#include "kernels/elementwise.hpp"

namespace trigram {
namespace {

struct LinearCombination {
  static constexpr double flops = 3;
  float a, b;

  TRIGRAM_RULE void operator()(float x, float& y) const { y = a * x + b * y; }
};

const Elementwise<LinearCombination>::Registration registration("axpby", "a times one vector plus b times another");

}  // namespace
}  // namespace trigram
