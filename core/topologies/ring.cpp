// Ring: a vertex and its two neighbours share alike, weights 1/3; in a ring of two the neighbour counts twice, [1/3,
// 2/3], and in a ring of one all three are the vertex itself. Eigenvalues 1/3 + (2/3) cos(2πk/n); gap about 4π²/(3n²).
// Lian et al., "Can decentralized algorithms outperform centralized algorithms?", NeurIPS 2017, arXiv:1705.09056.
#include "core/topologies/circulant.hpp"

namespace trigram {

namespace {

class Ring final : public Circulant {
 public:
  bool directed() const override { return false; }
  std::int64_t period() const override { return 1; }

 protected:
  OffsetWeights offsets(std::int64_t) const override {
    OffsetWeights weights;
    for (const int offset : {-1, 0, 1}) add(weights, offset, 1.0 / 3.0);
    return weights;
  }
};

const Topologies::Registration registration("ring",
                                            {"two neighbours, weights 1/3",
                                             "Lian et al., Can decentralized algorithms outperform centralized "
                                             "algorithms?, NeurIPS 2017, arXiv:1705.09056"},
                                            [](Params&) { return std::make_unique<Ring>(); });

}  // namespace

}  // namespace trigram
