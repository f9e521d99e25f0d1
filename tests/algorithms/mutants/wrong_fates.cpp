// Algorithms that are right as long as nobody leaves or joins: what they keep has the wrong fate.
#include "core/primitives/centralized.hpp"
#include "core/step/bucketwise.hpp"
#include "tests/algorithms/mutants/averages.hpp"
#include "tests/algorithms/mutants/feeds_errors_back.hpp"

namespace trigram {
namespace {

/// Adds to its gradient how far it was from the mean: over all ranks that is nothing, as long as those are the same, so
/// that it must be balanced.
class LeavesADriftBehind final : public GradientMethod {
 public:
  Trigram trigram() const override { return averages; }
  Cost cost(const CostQuery& query) const override { return cost_of_mean(query); }
  void setup(Worker& worker, std::span<Bucket> buckets) override {
    for (const Bucket& bucket : buckets) drifts_.push_back(worker.device.allocate(bucket.gradients.shape()));
  }
  void list_state(State& state) override { state.buffers("drift", drifts_, Fate::own); }

 private:
  void exchange(Worker& lane, Bucket& bucket) override {
    const Buffer drift = drifts_[static_cast<std::size_t>(bucket.index)];
    lane.device.axpby(0.5F, drift, 1.0F, bucket.gradients);
    lane.device.copy(bucket.gradients, drift);
    centralized_full_precision(lane, bucket.gradients);
    lane.device.axpby(-1.0F, bucket.gradients, 1.0F, drift);
  }
  std::vector<OwnedBuffer> drifts_;
};

template <class Mutant>
std::unique_ptr<Algorithm> make(Params&) {
  return std::make_unique<Mutant>();
}

const Algorithms::Registration registrations[] = {
    {"mutant/forgets_what_leavers_owed", {"residuals that stay with their ranks"}, make<FeedsErrorsBack<Fate::own>>},
    {"mutant/forgives_all_debts", {"residuals that begin anew"}, make<FeedsErrorsBack<Fate::anew>>},
    {"mutant/takes_its_debt_for_everybodys",
     {"residuals that are said to be alike"},
     make<FeedsErrorsBack<Fate::alike>>},
    {"mutant/leaves_a_drift_behind", {"what adds up to nothing, and stays with its rank"}, make<LeavesADriftBehind>},
};

}  // namespace
}  // namespace trigram
