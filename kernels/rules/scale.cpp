// Scaling: x ← a x.
#include "kernels/elementwise.hpp"

namespace trigram {
namespace {

struct Scaled {
  static constexpr double flops = 1;
  float a;

  TRIGRAM_RULE void operator()(float& x) const { x = a * x; }
};

const Elementwise<Scaled>::Registration registration("scale", "a times each element");

}  // namespace
}  // namespace trigram
