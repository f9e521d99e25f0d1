// A multiple added: y ← y + a x, where a is one number in the device's memory.
#include "kernels/elementwise.hpp"

namespace trigram {
namespace {

struct MultipleAdded {
  static constexpr double flops = 2;

  TRIGRAM_RULE void operator()(One a, float x, float& y) const { y = y + a * x; }
};

const Elementwise<MultipleAdded>::Registration registration(
    "add_scaled", "a vector plus a multiple of another, by a factor on the device");

}  // namespace
}  // namespace trigram
