// Bagua's shift_one: the lower half is paired with the upper half, shifted by one more place in each step; weights 1/2.
// With m = n/2: rank r < m meets ((s + r) mod m) + m, rank r ≥ m meets (r − m − s) mod m; period m. The product of T
// steps has second singular value |cos(π/m)|^(T−1) for n ≥ 6; n = 4 has the exact mean after two steps. Gan et al.,
// "Bagua: scaling up distributed learning with system relaxations", VLDB 2021, arXiv:2107.01499.
#include <algorithm>

#include "core/topologies/symmetric.hpp"

namespace trigram {

namespace {

class ShiftOne final : public Pairing {
 public:
  void resize(const Vertices& vertices) override {
    Symmetric::resize(vertices);
    const int size = vertices.count;
    require(size == 1 || size % 2 == 0,
            "topology 'shift_one' cannot have " + std::to_string(size) + " vertices; it needs an even number");
  }

  std::int64_t period() const override { return std::max(1, size() / 2); }

 protected:
  int partner(int rank, std::int64_t step) const override {
    if (size() == 1) return rank;
    const int half = size() / 2;
    const int shift = static_cast<int>(step % half);
    return rank < half ? (shift + rank) % half + half : (rank - shift) % half;
  }
};

const Topologies::Registration registration("shift_one",
                                            {"lower half with upper half, shifted by one each step, weights 1/2",
                                             "Gan et al., Bagua, VLDB 2021, arXiv:2107.01499"},
                                            [](Params&) { return std::make_unique<ShiftOne>(); });

}  // namespace

}  // namespace trigram
