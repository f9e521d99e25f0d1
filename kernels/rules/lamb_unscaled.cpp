// 1-bit LAMB's first moment after its average: m ← m / scale, and 0 where v is 0, since a sign has no zero.
#include "kernels/elementwise.hpp"

namespace trigram {
namespace {

struct LambUnscaled {
  static constexpr double flops = 1;
  static constexpr bool f32_only = true;

  TRIGRAM_RULE void operator()(One scale, float second, float& first) const {
    first = second == 0.0F ? 0.0F : first / scale;
  }
};

const Elementwise<LambUnscaled>::Registration registration("lamb_unscaled",
                                                           "a first moment without its scale, 0 where the second is");

}  // namespace
}  // namespace trigram
