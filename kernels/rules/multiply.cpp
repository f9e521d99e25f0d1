// Products: y ← x y.
#include "kernels/elementwise.hpp"

namespace trigram {
namespace {

struct Product {
  static constexpr double flops = 1;

  TRIGRAM_RULE void operator()(OneOrAll x, float& y) const { y = x * y; }
};

const Elementwise<Product>::Registration registration("multiply",
                                                      "the product of two vectors, or of a number and a vector");

}  // namespace
}  // namespace trigram
