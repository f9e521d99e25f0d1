// Static exponential graph: vertex i sends to i + 2^k, k < ⌈log₂ n⌉, and weighs each of them and itself
// 1/(1 + ⌈log₂ n⌉); offsets that fall together add up. Second eigenvalue 1 − 2/(1 + ⌈log₂ n⌉) for even n, smaller for
// odd. Ying et al., "Exponential graph is provably efficient for decentralized deep training", NeurIPS 2021,
// arXiv:2110.13363.
#include <bit>

#include "core/topologies/circulant.hpp"

namespace trigram {

namespace {

class Exponential final : public Circulant {
 public:
  bool directed() const override { return size() > 3; }
  std::int64_t period() const override { return 1; }

 protected:
  OffsetWeights offsets(std::int64_t) const override {
    const int hops = std::bit_width(static_cast<unsigned>(size() - 1));  // ⌈log₂ n⌉
    OffsetWeights weights;
    add(weights, 0, 1.0 / (1 + hops));
    for (int k = 0; k < hops; ++k) add(weights, 1 << k, 1.0 / (1 + hops));
    return weights;
  }
};

const Topologies::Registration registration(
    "exponential",
    {"directed, to the vertices 1, 2, 4, ... away, weights 1/(1 + ceil(log2 n))",
     "Ying et al., Exponential graph is provably efficient for decentralized "
     "deep training, NeurIPS 2021, arXiv:2110.13363"},
    [](Params&) { return std::make_unique<Exponential>(); });

}  // namespace

}  // namespace trigram
