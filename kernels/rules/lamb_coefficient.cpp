// How long a step of LAMB is beside its direction: c ← clip(c / length), and 1 where either is 0.
#include "kernels/elementwise.hpp"

namespace trigram {
namespace {

struct LambCoefficient {
  static constexpr double flops = 3;
  static constexpr bool f32_only = true;
  float least, most;

  TRIGRAM_RULE void operator()(float length, float& coefficient) const {
    const float quotient = coefficient / length;
    const float clipped = quotient < least ? least : quotient > most ? most : quotient;
    coefficient = coefficient == 0.0F || length == 0.0F ? 1.0F : clipped;
  }
};

const Elementwise<LambCoefficient>::Registration registration("lamb_coefficient",
                                                              "a clipped quotient of two lengths, 1 where either is 0");

}  // namespace
}  // namespace trigram
