// How far the second moment of 1-bit LAMB's warm-up is above the one that goes on: r ← (√v + ε) / (√ṽ + ε).
#include "kernels/elementwise.hpp"

namespace trigram {
namespace {

struct LambRatio {
  static constexpr double flops = 5;
  static constexpr bool f32_only = true;
  float epsilon;

  TRIGRAM_RULE void operator()(float second, float fresh, float& ratio) const {
    ratio = (std::sqrt(second) + epsilon) / (std::sqrt(fresh) + epsilon);
  }
};

const Elementwise<LambRatio>::Registration registration("lamb_ratio",
                                                        "what a frozen second moment is beside a fresh one");

}  // namespace
}  // namespace trigram
