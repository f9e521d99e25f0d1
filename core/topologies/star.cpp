// Star: everybody exchanges with vertex 0. Metropolis weights: 1/n on every edge, the rest stays at home, so that the
// leaves keep (n − 1)/n and the centre 1/n. Gap 1/n for n ≥ 3; for n = 2 both weights are 1/2 and the gap is 1.
// Xiao & Boyd, "Fast linear iterations for distributed averaging", 2004.
#include "core/topologies/symmetric.hpp"

namespace trigram {

namespace {

class Star final : public Symmetric {
 public:
  std::int64_t period() const override { return 1; }

  Row row(int rank, std::int64_t) const override {
    const double edge = 1.0 / size();
    if (rank != 0) return {{0, edge}, {rank, 1.0 - edge}};
    Row weights;
    for (int vertex = 0; vertex < size(); ++vertex) weights[vertex] = edge;
    return weights;
  }
};

const Topologies::Registration registration("star",
                                            {"everybody with vertex 0, Metropolis weights 1/n",
                                             "Xiao & Boyd, Fast linear iterations for distributed averaging, 2004"},
                                            [](Params&) { return std::make_unique<Star>(); });

}  // namespace

}  // namespace trigram
