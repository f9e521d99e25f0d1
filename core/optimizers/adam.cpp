// Adam: m ← β₁m + (1−β₁)g, v ← β₂v + (1−β₂)g², w ← w − γ m̂ / (√v̂ + ε).
#include "core/optimizers/adam_family.hpp"

namespace trigram {
namespace {

const Optimizers::Registration registration(
    "adam", {"Adam", "Kingma & Ba, Adam: a method for stochastic optimization, ICLR 2015, arXiv:1412.6980"},
    [](Params& params) { return std::make_unique<AdamFamily>(params, 0.0, false); });

}  // namespace
}  // namespace trigram
