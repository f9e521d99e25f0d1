// Plain stochastic gradient descent: w ← w − γ (g + λw).
#include "core/optimizers/sgd_family.hpp"

namespace trigram {
namespace {

const Optimizers::Registration registration("sgd", {"plain stochastic gradient descent"}, [](Params& params) {
  return std::make_unique<SgdFamily>(params, 0.0, false);
});

}  // namespace
}  // namespace trigram
