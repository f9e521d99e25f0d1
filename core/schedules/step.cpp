// Stairs: factor = factor^⌊done/every⌋.
#include <cmath>

#include "core/schedules/warmed_up.hpp"

namespace trigram {
namespace {

class Step final : public WarmedUp {
 public:
  explicit Step(Params& params)
      : WarmedUp(params),
        every_(params.get("every", std::int64_t{30}, "steps from one drop to the next", {1, 1'000'000'000'000})),
        factor_(params.get("factor", 0.1, "what is left of the learning rate after a drop", {0, 1})) {}

 private:
  double after_warmup(std::int64_t done, std::int64_t) const override {
    return std::pow(factor_, static_cast<double>(done / every_));
  }

  std::int64_t every_;
  double factor_;
};

const Schedules::Registration registration("step", {"the learning rate drops by a factor every so many steps"},
                                           [](Params& params) { return std::make_unique<Step>(params); });

}  // namespace
}  // namespace trigram
