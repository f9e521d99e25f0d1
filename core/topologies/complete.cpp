// Complete: everybody hears everybody, weights 1/n, so that W = J and one step gives the exact mean; gap 1.
#include "core/topologies/circulant.hpp"

namespace trigram {

namespace {

class Complete final : public Circulant {
 public:
  bool directed() const override { return false; }
  std::int64_t period() const override { return 1; }

 protected:
  OffsetWeights offsets(std::int64_t) const override {
    OffsetWeights weights;
    for (int offset = 0; offset < size(); ++offset) add(weights, offset, 1.0 / size());
    return weights;
  }
};

const Topologies::Registration registration("complete", {"everybody with everybody, weights 1/n"},
                                            [](Params&) { return std::make_unique<Complete>(); });

}  // namespace

}  // namespace trigram
