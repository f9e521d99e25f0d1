// Half a cosine: factor = final + (1 − final)·(1 + cos(π·done/total))/2.
#include <cmath>
#include <numbers>

#include "core/schedules/warmed_up.hpp"

namespace trigram {
namespace {

class Cosine final : public WarmedUp {
 public:
  explicit Cosine(Params& params)
      : WarmedUp(params),
        final_(params.get("final", 0.0, "share of the learning rate that is left at the end", {0, 1})) {}

 private:
  double after_warmup(std::int64_t done, std::int64_t total) const override {
    const double share = static_cast<double>(done) / static_cast<double>(total);
    return final_ + (1 - final_) * (1 + std::cos(std::numbers::pi * share)) / 2;
  }

  double final_;
};

const Schedules::Registration registration("cosine",
                                           {"half a cosine down to a share of the learning rate",
                                            "Loshchilov & Hutter, SGDR, ICLR 2017, arXiv:1608.03983"},
                                           [](Params& params) { return std::make_unique<Cosine>(params); });

}  // namespace
}  // namespace trigram
