// Stochastic gradient push (SGP): gossip on directed graphs in which a rank knows whom it sends to and nothing of what
// others receive. P is column stochastic: mixing keeps Σ x and lets each rank's share of it drift. Push-sum weights w
// drift alike and travel along, so z = x / w is free of it; forward and backward see z, the optimizer steps x.
//   mix=after:  x ← P (x − γ g(z)), w ← P w, z = x / w, each bucket's exchange overlapping with the rest of backward;
//   mix=before: x ← P x − γ g(z),   w ← P w, z = x / w, the exchange overlapping with forward and backward.
//   rounds 1, bytes degree · (S + 4) per rank.
#include "core/primitives/gossip.hpp"
#include "core/step/bucketwise.hpp"

namespace trigram {
namespace {

constexpr Shape push_sum_weight{1, DType::f32, 1, false};

class StochasticGradientPush final : public Algorithm {
 public:
  explicit StochasticGradientPush(Params& params)
      : topology_spec_(params.get("topology", "one_peer_exponential", "who sends to whom; column stochastic")),
        mix_(read_mix(params, "after")) {}

  Trigram trigram() const override {
    return {Trigram::Synchrony::synchronous, Trigram::Precision::full, Trigram::Centrality::decentralized};
  }
  bool local_updates() const override { return mix_ == "after"; }
  std::vector<std::string> trials() const override {
    return {"", "topology=chorded_ring", "topology=chorded_ring,mix=before"};
  }

  /// The mean of x follows the mean gradient. That of z does where all w stay 1, at a rate that is the topology's.
  Invariants invariants(const CostQuery& query) const override {
    const auto topology = make_topology(topology_spec_, vertices(query));
    if (topology->stochasticity() != Topology::Stochasticity::doubly) return {};
    Invariants held = Algorithm::invariants(query);
    held.contraction = contraction_of(*topology);
    return held;
  }

  Cost cost(const CostQuery& query) const override {
    const auto topology = make_topology(topology_spec_, vertices(query));
    return sum_over_buckets(query, [&](const Shape& bucket) {
      return gossip_cost(query, *topology, query.step, {bucket, push_sum_weight});
    });
  }

  void check(const CostQuery& query) const override {
    const auto topology = make_topology(topology_spec_, vertices(query));
    require(topology->stochasticity() != Topology::Stochasticity::row,
            "algorithm 'sgp' counts on the sum over ranks staying what it is, but topology=" + topology_spec_ +
                " is row stochastic; take one that is column stochastic");
  }

  void setup(Worker& worker, std::span<Bucket> buckets) override {
    topology_ = make_topology(topology_spec_, vertices(worker));
    buckets_ = buckets;
    for (const Bucket& bucket : buckets) {
      worker.device.copy(bucket.weights, pushed_.emplace_back(worker.device.allocate(bucket.weights.shape())));
      worker.device.fill(push_sum_.emplace_back(worker.device.allocate(push_sum_weight)), 1);
    }
  }

  std::optional<Bucket> stepped(const Worker&, const Bucket& bucket) const override {
    Bucket pushed = bucket;
    pushed.weights = pushed_[static_cast<std::size_t>(bucket.index)];
    return pushed;
  }

  void before_forward(Worker& worker) override {
    if (mix_ == "after") return;
    for (const Bucket& bucket : buckets_) {
      pending_.start(worker, bucket, [this, index = bucket.index](Worker& lane) { push(lane, index); });
    }
  }
  void before_update(Worker&) override { pending_.wait(); }

  void after_update(Worker& worker, Bucket& bucket) override {
    if (mix_ == "before") return read_off(worker, bucket);
    pending_.start(worker, bucket, [this, &bucket](Worker& lane) {
      push(lane, bucket.index);
      read_off(lane, bucket);
    });
  }
  void after_step(Worker&) override { pending_.wait(); }

  /// The mean of x, whose push-sum weights add up to the number of ranks.
  void global_weights(Worker& worker, Bucket& bucket) override {
    worker.device.copy(pushed_[static_cast<std::size_t>(bucket.index)], bucket.weights);
    Algorithm::global_weights(worker, bucket);
  }
  void list_state(State& state) override {
    state.buffers("pushed", pushed_, Fate::averaged).buffers("push sum", push_sum_, Fate::averaged);
  }

 private:
  void push(Worker& lane, int bucket) {
    const auto index = static_cast<std::size_t>(bucket);
    gossip(lane, *topology_, lane.step, {pushed_[index], push_sum_[index]});
  }

  /// z = x / w.
  void read_off(Worker& lane, const Bucket& bucket) {
    const auto index = static_cast<std::size_t>(bucket.index);
    lane.device.copy(pushed_[index], bucket.weights);
    lane.device.divide(push_sum_[index], bucket.weights);
  }

  std::string topology_spec_;
  std::string mix_;
  std::unique_ptr<const Topology> topology_;
  std::span<Bucket> buckets_;
  std::vector<OwnedBuffer> pushed_;    ///< x of each bucket
  std::vector<OwnedBuffer> push_sum_;  ///< w, the same for each bucket: none waits for another
  PendingBuckets pending_;
};

const Algorithms::Registration registration(
    "sgp",
    {"push weights along a directed graph, divided by push-sum weights",
     "Assran et al., Stochastic gradient push for distributed deep learning, ICML 2019, arXiv:1811.10792",
     "Graphs in which a rank may send to another that does not send back, as when links fail.",
     "Symmetric graphs, where it is decentralized with a weight more to send."},
    [](Params& params) { return std::make_unique<StochasticGradientPush>(params); });

}  // namespace
}  // namespace trigram
