// The learning rate as given, after an optional warm-up.
#include "core/schedules/warmed_up.hpp"

namespace trigram {
namespace {

class Constant final : public WarmedUp {
 public:
  using WarmedUp::WarmedUp;

 private:
  double after_warmup(std::int64_t, std::int64_t) const override { return 1; }
};

const Schedules::Registration registration("constant", {"the learning rate as given"},
                                           [](Params& params) { return std::make_unique<Constant>(params); });

}  // namespace
}  // namespace trigram
