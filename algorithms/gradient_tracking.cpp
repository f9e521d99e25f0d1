// Gradient tracking (DIGing, its adapt-then-combine form): ranks gossip weights x and an estimate y of the mean
// gradient, so that with a constant learning rate all of them reach the optimum of the mean loss, which D-PSGD does not
// where their data differ.
//   y ← W y + g(x) − g(x of the step before), x ← W (x − γ y)
//   Σ y = Σ g in every step. x − γ y and y travel in one exchange, which overlaps with the rest of backward; W y waits
//   for the next gradient. Mixing x after its step, not before, allows learning rates several times larger. rounds 1,
//   bytes 2 · degree · S per rank.
#include "core/primitives/gossip.hpp"
#include "core/step/bucketwise.hpp"

namespace trigram {
namespace {

class GradientTracking final : public WeightMethod {
 public:
  explicit GradientTracking(Params& params)
      : topology_spec_(params.get("topology", "ring", "who exchanges with whom; doubly stochastic")) {}

  Trigram trigram() const override {
    return {Trigram::Synchrony::synchronous, Trigram::Precision::full, Trigram::Centrality::decentralized};
  }
  bool reads_gradients() const override { return true; }
  std::vector<std::string> trials() const override { return {"", "topology=one_outside"}; }

  Cost cost(const CostQuery& query) const override {
    const auto topology = make_topology(topology_spec_, vertices(query));
    return sum_over_buckets(query, [&](const Shape& bucket) {
      return gossip_cost(query, *topology, query.step, {bucket, bucket});
    });
  }
  void check(const CostQuery& query) const override {
    make_doubly_stochastic(topology_spec_, vertices(query), "gradient_tracking");
  }

  void setup(Worker& worker, std::span<Bucket> buckets) override {
    topology_ = make_topology(topology_spec_, vertices(worker));
    for (const Bucket& bucket : buckets) {
      tracked_.push_back(worker.device.allocate(bucket.gradients.shape()));
      before_.push_back(worker.device.allocate(bucket.gradients.shape()));
    }
  }

  /// The run's optimizer steps along y.
  std::optional<Bucket> stepped(const Worker&, const Bucket& bucket) const override {
    return bucket.along(tracked_[static_cast<std::size_t>(bucket.index)]);
  }

  void gradients_ready(Worker& worker, Bucket& bucket) override {
    const auto index = static_cast<std::size_t>(bucket.index);
    const Buffer terms[] = {tracked_[index], bucket.gradients, before_[index]};
    const float signs[] = {1.0F, 1.0F, -1.0F};
    worker.device.weighted_sum(terms, signs, tracked_[index]);
    worker.device.copy(bucket.gradients, before_[index]);
  }

  void list_state(State& state) override {
    state.buffers("tracked", tracked_, Fate::joint).buffers("before", before_, Fate::joint);
  }

 private:
  bool communicates(std::int64_t) const override { return true; }
  void exchange(Worker& lane, Bucket& bucket) override {
    gossip(lane, *topology_, lane.step, {bucket.weights, tracked_[static_cast<std::size_t>(bucket.index)]});
  }

  std::string topology_spec_;
  std::unique_ptr<const Topology> topology_;
  std::vector<OwnedBuffer> tracked_;  ///< y, mixed between steps
  std::vector<OwnedBuffer> before_;   ///< the last step's gradients
};

const Algorithms::Registration registration(
    "gradient_tracking",
    {"gossip weights and an estimate of the mean gradient",
     "Nedić, Olshevsky & Shi, Achieving geometric convergence for distributed optimization over time-varying graphs, "
     "SIAM J. Optim. 2017, arXiv:1607.03218",
     "Gossip on data that differ between ranks, on graphs that may change.",
     "Where bytes count: it sends twice what decentralized does, and d2 sends half of that."},
    [](Params& params) { return std::make_unique<GradientTracking>(params); });

}  // namespace
}  // namespace trigram
