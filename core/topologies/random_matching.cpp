// Random perfect matching: in each step a fresh uniformly random pairing, weights 1/2; with an odd size one vertex
// rests. E W = ((n−2)/(2(n−1))) I + rest J for even n, and E‖deviation‖² shrinks by (n−2)/(2(n−1)) a step; 1/2 for odd
// n. Boyd et al., "Randomized gossip algorithms", 2006.
#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <utility>

#include "core/topologies/symmetric.hpp"
#include "core/values/random.hpp"

namespace trigram {

namespace {

/// The partner of each vertex.
using Matching = std::vector<int>;

// Positions 0 and 1, 2 and 3, … of a random order are pairs; the last position of an odd size rests.
Matching draw_matching(std::uint64_t seed, std::int64_t step, int size) {
  const Key key{.seed = seed, .step = step, .phase = Phase::topology};
  const std::vector<std::int64_t> order = random_permutation(Philox(key), size);
  Matching partners(order.size());
  for (std::size_t position = 0; position < order.size(); ++position) {
    const std::size_t other = (position ^ 1U) < order.size() ? position ^ 1U : position;
    partners[static_cast<std::size_t>(order[position])] = static_cast<int>(order[other]);
  }
  return partners;
}

/// The last few matchings: every rank of a process asks for the same one, and for each bucket again. Any thread may
/// ask.
class RecentMatchings {
 public:
  std::shared_ptr<const Matching> get(std::uint64_t seed, std::int64_t step, int size) {
    const std::lock_guard lock(mutex_);
    std::shared_ptr<const Matching>& matching = matchings_[{step, seed, size}];
    if (matching != nullptr) return matching;
    matching = std::make_shared<const Matching>(draw_matching(seed, step, size));
    const std::shared_ptr<const Matching> made = matching;
    if (matchings_.size() > kept) matchings_.erase(matchings_.begin());  // of the earliest step
    return made;
  }

 private:
  static constexpr std::size_t kept = 16;

  std::mutex mutex_;
  std::map<std::tuple<std::int64_t, std::uint64_t, int>, std::shared_ptr<const Matching>> matchings_;
};

class RandomMatching final : public Pairing {
 public:
  explicit RandomMatching(Params& params)
      : seed_(static_cast<std::uint64_t>(params.get("seed", std::int64_t{0}, "seed of the matchings"))) {}

  std::int64_t period() const override { return 0; }

 protected:
  // Every vertex has the same matching: the key has no rank.
  int partner(int rank, std::int64_t step) const override {
    static RecentMatchings recent;
    return (*recent.get(seed_, step, size()))[static_cast<std::size_t>(rank)];
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
