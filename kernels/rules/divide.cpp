// Quotients: y ← y / x, rounded as IEEE 754 says.
#include "kernels/elementwise.hpp"

namespace trigram {
namespace {

struct Quotient {
  static constexpr double flops = 1;

  TRIGRAM_RULE void operator()(OneOrAll x, float& y) const { y = y / x; }
};

const Elementwise<Quotient>::Registration registration("divide", "a vector divided by another, or by a number");

}  // namespace
}  // namespace trigram
