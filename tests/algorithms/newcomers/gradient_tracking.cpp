// Gradient tracking (Nedić, Olshevsky & Shi, SIAM J. Optim. 2017): ranks gossip weights and an estimate y of the mean
// gradient, two exchanges a step.
//   y ← W y + g − g_before, x ← W (x − γ y)
#include "core/bucketwise.hpp"
#include "core/primitives/decentralized.hpp"

namespace trigram {
namespace {

class GradientTracking final : public WeightMethod {
 public:
  explicit GradientTracking(Params& params)
      : topology_spec_(params.get("topology", "ring", "who exchanges with whom")) {}

  Trigram trigram() const override {
    return {Trigram::Synchrony::synchronous, Trigram::Precision::full, Trigram::Centrality::decentralized};
  }
  bool uses_optimizer() const override { return false; }
  Invariants invariants(const CostQuery&) const override { return {.mean_error = 0}; }
  std::vector<std::string> trials() const override { return {"", "topology=complete"}; }
  Cost cost(const CostQuery& query) const override {
    const auto topology = make_topology(topology_spec_, vertices(query.hierarchy, query.place));
    return sum_over_buckets(query, [&](const Shape& bucket) {
      const Cost one = decentralized_full_precision_cost(query, *topology, query.step, bucket);
      return one + one;
    });
  }

  void setup(Worker& worker, std::span<Bucket> buckets) override {
    topology_ = make_topology(topology_spec_, vertices(worker));
    for (const Bucket& bucket : buckets) {
      tracked_.push_back(worker.device.allocate(bucket.gradients.shape()));
      before_.push_back(worker.device.allocate(bucket.gradients.shape()));
    }
  }

  void update(Worker&, Bucket&) override {}

 private:
  bool communicates(std::int64_t) const override { return true; }
  void exchange(Worker& lane, Bucket& bucket) override {
    const auto index = static_cast<std::size_t>(bucket.index);
    const Buffer y = tracked_[index];
    const Buffer before = before_[index];
    decentralized_full_precision(lane, *topology_, lane.step, y);
    lane.device.axpby(1.0F, bucket.gradients, 1.0F, y);
    lane.device.axpby(-1.0F, before, 1.0F, y);
    lane.device.copy(bucket.gradients, before);
    lane.device.axpby(-static_cast<float>(lane.learning_rate), y, 1.0F, bucket.weights);
    decentralized_full_precision(lane, *topology_, lane.step, bucket.weights);
  }

  std::string topology_spec_;
  std::unique_ptr<const Topology> topology_;
  std::vector<OwnedBuffer> tracked_;
  std::vector<OwnedBuffer> before_;
};

const Algorithms::Registration registration("newcomer/gradient_tracking", {"gossip weights and mean gradients"},
                                            [](Params& params) { return std::make_unique<GradientTracking>(params); });

}  // namespace
}  // namespace trigram
