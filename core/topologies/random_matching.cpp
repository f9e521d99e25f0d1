// Random perfect matching: in each step a fresh uniformly random pairing, weights 1/2; with an odd size one vertex
// rests. E W = ((n−2)/(2(n−1))) I + rest J for even n, and E‖deviation‖² shrinks by (n−2)/(2(n−1)) a step; 1/2 for odd
// n. Boyd et al., "Randomized gossip algorithms", 2006.
#include <algorithm>

#include "core/random.hpp"
#include "core/topologies/symmetric.hpp"

namespace trigram {

namespace {

class RandomMatching final : public Pairing {
 public:
  explicit RandomMatching(Params& params)
      : seed_(static_cast<std::uint64_t>(params.get("seed", std::int64_t{0}, "seed of the matchings"))) {}

  std::int64_t period() const override { return 0; }

 protected:
  // Every vertex draws the same order (the key has no rank) and pairs positions 0 and 1, 2 and 3, …; the last position
  // of an odd size rests.
  int partner(int rank, std::int64_t step) const override {
    const Key key{.seed = seed_, .step = step, .phase = Phase::topology};
    const std::vector<std::int64_t> order = random_permutation(Philox(key), size());
    const auto position = static_cast<std::size_t>(std::find(order.begin(), order.end(), rank) - order.begin());
    const std::size_t other = position ^ 1U;
    return other < order.size() ? static_cast<int>(order[other]) : rank;
  }

 private:
  std::uint64_t seed_;
};

const Topologies::Registration registration("random_matching",
                                            {"a fresh random pairing each step, weights 1/2; an odd vertex rests",
                                             "Boyd et al., Randomized gossip algorithms, IEEE Trans. Inf. Theory 2006"},
                                            [](Params& params) { return std::make_unique<RandomMatching>(params); });

}  // namespace

}  // namespace trigram
