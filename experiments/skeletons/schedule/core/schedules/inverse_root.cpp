// Inverse root: factor = 1/√(1 + done/every).
// Change: the formula and its paper.
#include <cmath>

#include "core/schedules/warmed_up.hpp"

namespace trigram {
namespace {

class InverseRoot final : public WarmedUp {
 public:
  // Change: every parameter is read here; WarmedUp reads `warmup`.
  explicit InverseRoot(Params& params)
      : WarmedUp(params), every_(params.get("every", 30.0, "steps in which it falls by √2", {1e-9, 1e18})) {}

 private:
  // Change: the formula: `done` of `total` steps after the warm-up are over. The same on every rank.
  double after_warmup(std::int64_t done, std::int64_t) const override {
    return 1 / std::sqrt(1 + static_cast<double>(done) / every_);
  }

  double every_;
};

// Change: what `trigram list` says, and the paper as a second text.
const Schedules::Registration registration("inverse_root", {"falls with the root of the step"},
                                           [](Params& params) { return std::make_unique<InverseRoot>(params); });

}  // namespace
}  // namespace trigram
