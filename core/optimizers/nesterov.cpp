// Nesterov momentum as PyTorch has it: u ← μu + d, w ← w − γ (d + μu), d = g + λw.
#include "core/optimizers/sgd_family.hpp"

namespace trigram {
namespace {

const Optimizers::Registration registration(
    "nesterov",
    {"SGD with Nesterov momentum",
     "Sutskever et al., On the importance of initialization and momentum in deep learning, ICML 2013"},
    [](Params& params) { return std::make_unique<SgdFamily>(params, 0.9, true); });

}  // namespace
}  // namespace trigram
