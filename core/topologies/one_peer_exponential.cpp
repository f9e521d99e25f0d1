// One-peer exponential graph: in step t vertex i sends to i + 2^(t mod ⌈log₂ n⌉) alone, weights 1/2. For n a power of
// two any log₂ n consecutive steps give the exact mean. A step of distance b has the absolute eigenvalues |cos(πkb/n)|,
// so its gap is 0 where b > 1 divides n: only the product over the period mixes.
// Ying et al., NeurIPS 2021, arXiv:2110.13363.
#include <algorithm>
#include <bit>

#include "core/topologies/circulant.hpp"

namespace trigram {

namespace {

class OnePeerExponential final : public Circulant {
 public:
  bool directed() const override { return size() > 2; }
  std::int64_t period() const override { return std::max(1, hops()); }

 protected:
  OffsetWeights offsets(std::int64_t step) const override {
    OffsetWeights weights;
    add(weights, 0, 0.5);
    add(weights, hops() == 0 ? 0 : 1 << (step % hops()), 0.5);
    return weights;
  }

 private:
  int hops() const { return std::bit_width(static_cast<unsigned>(size() - 1)); }  // ⌈log₂ n⌉
};

const Topologies::Registration registration("one_peer_exponential",
                                            {"directed, one peer a step at distance 1, 2, 4, ..., weights 1/2",
                                             "Ying et al., Exponential graph is provably efficient for decentralized "
                                             "deep training, NeurIPS 2021, arXiv:2110.13363"},
                                            [](Params&) { return std::make_unique<OnePeerExponential>(); });

}  // namespace

}  // namespace trigram
