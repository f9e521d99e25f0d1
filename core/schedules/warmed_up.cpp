#include "core/schedules/warmed_up.hpp"

#include <algorithm>
#include <limits>

namespace trigram {

WarmedUp::WarmedUp(Params& params)
    : warmup_(params.get("warmup", std::int64_t{0}, "first steps, in which the learning rate grows linearly",
                         {0, std::numeric_limits<std::int64_t>::max()})) {}

double WarmedUp::factor(std::int64_t step, std::int64_t steps) const {
  if (step < warmup_) return static_cast<double>(step + 1) / static_cast<double>(warmup_);
  return after_warmup(step - warmup_, std::max<std::int64_t>(steps - warmup_, 1));
}

}  // namespace trigram
