// Square roots: x ← √x, rounded as IEEE 754 says.
#include "kernels/elementwise.hpp"

namespace trigram {
namespace {

struct SquareRoot {
  static constexpr double flops = 1;

  TRIGRAM_RULE void operator()(float& x) const { x = std::sqrt(x); }
};

const Elementwise<SquareRoot>::Registration registration("root", "the square root of each element");

}  // namespace
}  // namespace trigram
