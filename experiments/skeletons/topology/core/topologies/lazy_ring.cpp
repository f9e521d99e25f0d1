// Lazy ring: a vertex keeps half and gives a quarter to each neighbour; in a ring of two the neighbour counts twice.
// Eigenvalues (1 + cos(2πk/n))/2, none of them negative; gap (1 − cos(2π/n))/2.
// Change: the graph, its weights, eigenvalues and paper.
#include "core/topologies/circulant.hpp"

namespace trigram {
namespace {

// Change: Circulant where every vertex sees the same picture, Symmetric where W = Wᵀ, Topology for all else.
class LazyRing final : public Circulant {
 public:
  // Change: whether W differs from its transpose, and the steps after which it comes again.
  bool directed() const override { return false; }
  std::int64_t period() const override { return 1; }

 protected:
  // Change: the weight of what arrives from each distance; 0 is the vertex itself. They sum to 1.
  OffsetWeights offsets(std::int64_t) const override {
    OffsetWeights weights;
    add(weights, -1, 0.25);
    add(weights, 0, 0.5);
    add(weights, 1, 0.25);
    return weights;
  }
};

// Change: what `trigram list` says, and the paper as a second text.
const Topologies::Registration registration("lazy_ring", {"two neighbours, weights 1/4; half stays at home"},
                                            [](Params&) { return std::make_unique<LazyRing>(); });

}  // namespace
}  // namespace trigram
