// Schedules that begin with a linear warm-up.
#pragma once

#include "core/registry/params.hpp"
#include "core/step/schedule.hpp"

namespace trigram {

/// factor(t) = (t + 1)/warmup in the first `warmup` steps (Goyal et al., 2017, arXiv:1706.02677), then what the product
/// says of the share of the rest that is over.
class WarmedUp : public Schedule {
 public:
  /// Reads warmup. Throws UsageError when it is negative.
  explicit WarmedUp(Params& params);
  double factor(std::int64_t step, std::int64_t steps) const final;

 protected:
  /// `done` of `total` steps after the warm-up are over; done < total where total > 0.
  virtual double after_warmup(std::int64_t done, std::int64_t total) const = 0;

 private:
  std::int64_t warmup_;
};

}  // namespace trigram
