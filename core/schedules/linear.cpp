// A straight line: factor = 1 − (1 − final)·done/total.
#include "core/schedules/warmed_up.hpp"

namespace trigram {
namespace {

class Linear final : public WarmedUp {
 public:
  explicit Linear(Params& params)
      : WarmedUp(params),
        final_(params.get("final", 0.0, "share of the learning rate that is left at the end", {0, 1})) {}

 private:
  double after_warmup(std::int64_t done, std::int64_t total) const override {
    return 1 - (1 - final_) * static_cast<double>(done) / static_cast<double>(total);
  }

  double final_;
};

const Schedules::Registration registration("linear", {"a straight line down to a share of the learning rate"},
                                           [](Params& params) { return std::make_unique<Linear>(params); });

}  // namespace
}  // namespace trigram
