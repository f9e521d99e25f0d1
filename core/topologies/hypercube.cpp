// Hypercube of h dimensions: the neighbours of vertex i are i xor 2^k, weights 1/(h + 1), n = 2^h. Eigenvalues
// 1 − 2k/(h + 1); gap 2/(h + 1) for h ≥ 1.
#include <bit>

#include "core/topologies/symmetric.hpp"

namespace trigram {

namespace {

class Hypercube final : public Symmetric {
 public:
  void resize(const Vertices& vertices) override {
    Symmetric::resize(vertices);
    const int size = vertices.count;
    require(std::has_single_bit(static_cast<unsigned>(size)),
            "topology 'hypercube' cannot have " + std::to_string(size) + " vertices; it needs a power of two");
  }

  std::int64_t period() const override { return 1; }

  Row row(int rank, std::int64_t) const override {
    const int dimensions = std::countr_zero(static_cast<unsigned>(size()));
    Row weights{{rank, 1.0 / (dimensions + 1)}};
    for (int k = 0; k < dimensions; ++k) weights[rank ^ (1 << k)] = 1.0 / (dimensions + 1);
    return weights;
  }
};

const Topologies::Registration registration("hypercube", {"neighbours differ in one bit, weights 1/(1 + log2 n)"},
                                            [](Params&) { return std::make_unique<Hypercube>(); });

}  // namespace

}  // namespace trigram
