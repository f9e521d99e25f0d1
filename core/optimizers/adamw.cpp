// AdamW: Adam, with weights decayed beside the gradient, w ← w − γλw.
#include "core/optimizers/adam_family.hpp"

namespace trigram {
namespace {

const Optimizers::Registration registration(
    "adamw",
    {"Adam with decoupled weight decay",
     "Loshchilov & Hutter, Decoupled weight decay regularization, ICLR 2019, arXiv:1711.05101"},
    [](Params& params) { return std::make_unique<AdamFamily>(params, 0.01, true); });

}  // namespace
}  // namespace trigram
