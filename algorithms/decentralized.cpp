// Decentralized SGD (D-PSGD): weights are mixed with those of the neighbours, every `every` steps, on any topology.
//   mix=before: x ← W x − γ g(x), the exchange of a snapshot overlapping with forward and backward;
//   mix=after:  x ← W (x − γ g(x)), each bucket's exchange overlapping with the rest of backward.
// Every `average_every` steps all ranks average in place of that, as gossip with periodic global averaging does.
//   rounds 1, bytes degree · S per rank and exchange; all_reduce's where all average.
#include "core/primitives/decentralized.hpp"

#include "core/primitives/centralized.hpp"
#include "core/step/bucketwise.hpp"

namespace trigram {
namespace {

class Decentralized final : public Algorithm {
 public:
  explicit Decentralized(Params& params)
      : topology_spec_(params.get("topology", "ring", "who exchanges with whom; doubly stochastic")),
        every_(read_every(params, 1)),
        mix_(read_mix(params, "before")),
        average_every_(params.get("average_every", std::int64_t{0},
                                  "steps after which all ranks average instead; 0: never", {0, 1'000'000'000})) {}

  Trigram trigram() const override {
    return {Trigram::Synchrony::synchronous, Trigram::Precision::full, Trigram::Centrality::decentralized};
  }
  bool local_updates() const override { return mix_ == "after"; }
  bool reads_gradients() const override { return false; }
  bool bears_absence() const override { return average_every_ == 0; }
  std::vector<std::string> trials() const override {
    return {"", "mix=after,every=2", "topology=one_peer_exponential", "topology=random_matching",
            "mix=after,every=2,average_every=3"};
  }
  Invariants invariants(const CostQuery& query) const override {
    Invariants held = Algorithm::invariants(query);
    held.contraction = contraction_of(*make_topology(topology_spec_, vertices(query)));
    return held;
  }

  Cost cost(const CostQuery& query) const override {
    if (!speaks(query.step)) return {};
    const auto topology = make_topology(topology_spec_, vertices(query));
    return sum_over_buckets(query, [&](const Shape& bucket) {
      if (averages(query.step)) return centralized_full_precision_cost(query, bucket);
      return decentralized_full_precision_cost(query, *topology, query.step / every_, bucket);
    });
  }

  void check(const CostQuery& query) const override {
    make_doubly_stochastic(topology_spec_, vertices(query), "decentralized");
  }

  void setup(Worker& worker, std::span<Bucket> buckets) override {
    topology_ = make_topology(topology_spec_, vertices(worker));
    buckets_ = buckets;
    if (mix_ == "after") return;
    for (const Bucket& bucket : buckets) snapshots_.push_back(worker.device.allocate(bucket.weights.shape()));
  }

  void before_forward(Worker& worker) override {
    if (mix_ == "after" || !speaks(worker.step)) return;
    for (const Bucket& bucket : buckets_) {
      const Buffer snapshot = snapshots_[static_cast<std::size_t>(bucket.index)];
      worker.device.copy(bucket.weights, snapshot);
      start_mix(worker, bucket, snapshot);
    }
  }

  void before_update(Worker& worker) override {
    pending_.wait();
    if (mix_ == "after" || !speaks(worker.step)) return;
    for (const Bucket& bucket : buckets_) {
      worker.device.copy(snapshots_[static_cast<std::size_t>(bucket.index)], bucket.weights);
    }
  }

  void after_update(Worker& worker, Bucket& bucket) override {
    if (mix_ == "after" && speaks(worker.step)) start_mix(worker, bucket, bucket.weights);
  }
  void after_step(Worker&) override { pending_.wait(); }

 private:
  bool averages(std::int64_t step) const { return average_every_ > 0 && (step + 1) % average_every_ == 0; }
  bool speaks(std::int64_t step) const { return step % every_ == 0 || averages(step); }

  void start_mix(Worker& worker, const Bucket& bucket, Buffer weights) {
    pending_.start(worker, bucket, [this, weights](Worker& lane) {
      if (averages(lane.step)) return centralized_full_precision(lane, weights);
      decentralized_full_precision(lane, *topology_, lane.step / every_, weights);
    });
  }

  std::string topology_spec_;
  std::int64_t every_;
  std::string mix_;
  std::int64_t average_every_;
  std::unique_ptr<const Topology> topology_;
  std::span<Bucket> buckets_;
  std::vector<OwnedBuffer> snapshots_;
  PendingBuckets pending_;
};

const Algorithms::Registration registration(
    "decentralized",
    {"mix weights with neighbours",
     "Lian et al., Can decentralized algorithms outperform centralized algorithms?, NeurIPS 2017, arXiv:1705.09056",
     "Networks of high latency, or many ranks: a rank hears of its neighbours alone.",
     "Few ranks on a fast network, where an all-reduce takes as long and mixes completely."},
    [](Params& params) { return std::make_unique<Decentralized>(params); });

}  // namespace
}  // namespace trigram
