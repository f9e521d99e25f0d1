// Heavy-ball momentum: u ← μu + g + λw, w ← w − γu.
#include "core/optimizers/sgd_family.hpp"

namespace trigram {
namespace {

const Optimizers::Registration registration(
    "momentum",
    {"SGD with heavy-ball momentum", "Polyak, Some methods of speeding up the convergence of iteration methods, 1964"},
    [](Params& params) { return std::make_unique<SgdFamily>(params, 0.9, false); });

}  // namespace
}  // namespace trigram
