// Federated averaging with partial participation: rounds of `every` local steps, of which each counts for a part of the
// ranks only, and all go on from what those reached.
//   x_j ← x_j − γ g_j, `every` times; x ← mean of x_j over the round's ranks
// Ranks take turns in a random order, drawn anew when all have had theirs, so that no data are left out.
//   rounds 2(n−1)/every, bytes 2 S (n−1)/(n every) per rank and step with the ring.
#include <algorithm>
#include <cmath>

#include "core/primitives/centralized.hpp"
#include "core/step/bucketwise.hpp"
#include "core/values/random.hpp"

namespace trigram {
namespace {

class FederatedAveraging final : public WeightMethod {
 public:
  explicit FederatedAveraging(Params& params)
      : every_(read_every(params, 5)),
        participation_(params.get("participation", 0.5, "share of ranks that a round counts for", {1e-6, 1})) {}

  Trigram trigram() const override {
    return {Trigram::Synchrony::synchronous, Trigram::Precision::full, Trigram::Centrality::centralized};
  }
  /// The mean over some ranks follows no mean gradient.
  Invariants invariants(const CostQuery& query) const override {
    Invariants held = Algorithm::invariants(query);
    if (participation_ < 1) held.mean_error.reset();
    return held;
  }
  std::vector<std::string> trials() const override { return {"", "every=3,participation=1"}; }
  Cost cost(const CostQuery& query) const override {
    if (!communicates(query.step)) return {};
    return sum_over_buckets(query, [&](const Shape& bucket) { return centralized_full_precision_cost(query, bucket); });
  }

 private:
  bool communicates(std::int64_t step) const override { return (step + 1) % every_ == 0; }

  /// Others add nothing to the mean, whose weight the round's ranks have then.
  void exchange(Worker& lane, Bucket& bucket) override {
    lane.device.scale(bucket.weights, share_of(lane));
    centralized_full_precision(lane, bucket.weights);
  }

  float share_of(const Worker& lane) const {
    const std::int64_t ranks = lane.world_size();
    const auto most = static_cast<std::int64_t>(std::ceil(participation_ * static_cast<double>(ranks)));
    const std::int64_t rounds = (ranks + most - 1) / most, round = lane.step / every_;
    const Key key{.seed = lane.relaxation.seed, .step = round / rounds, .phase = Phase::algorithm};
    const std::vector<std::int64_t> order = random_permutation(Philox(key), ranks);
    const std::int64_t place = std::find(order.begin(), order.end(), lane.rank()) - order.begin();
    if (place / most != round % rounds) return 0;
    return static_cast<float>(ranks) / static_cast<float>(std::min(most, ranks - round % rounds * most));
  }

  std::int64_t every_;
  double participation_;
};

const Algorithms::Registration registration(
    "fedavg",
    {"train alone, average the weights of some ranks every few steps",
     "McMahan et al., Communication-efficient learning of deep networks from decentralized data, AISTATS 2017, "
     "arXiv:1602.05629",
     "To study federations, in which only some take part in a round.",
     "Clusters: ranks that do not count have worked in vain."},
    [](Params& params) { return std::make_unique<FederatedAveraging>(params); });

}  // namespace
}  // namespace trigram
