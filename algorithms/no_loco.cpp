// NoLoCo: DiLoCo without an all-reduce. Every `every` steps a rank meets its neighbours of that exchange, by default
// one drawn at random, in place of all ranks.
//   Δ_j = φ_j − x_j;  δ_j ← μ δ_j − β mean Δ − η (φ_j − mean φ);  φ_j ← φ_j + δ_j;  x_j ← φ_j, means over those who
//   meet
// The last term draws slow weights together, which no all-reduce keeps equal.
//   rounds 1/every, bytes degree · 2 S / every per rank and step
#include "core/primitives/gossip.hpp"
#include "core/step/bucketwise.hpp"

namespace trigram {
namespace {

class NoLoCo final : public WeightMethod {
 public:
  explicit NoLoCo(Params& params)
      : every_(read_every(params, 10)),
        topology_spec_(params.get("topology", "random_matching", "who meets whom; doubly stochastic")),
        outer_momentum_(
            static_cast<float>(params.get("outer_momentum", 0.5, "μ, share of a move that is kept", {0, 1}))),
        outer_lr_(static_cast<float>(params.get("outer_lr", 0.7, "β, share of what was learned", {0, 1e30}))),
        pull_(static_cast<float>(params.get("pull", 1.0, "η, share of the way to the mean of slow weights", {0, 2}))) {}

  Trigram trigram() const override {
    return {Trigram::Synchrony::synchronous, Trigram::Precision::full, Trigram::Centrality::decentralized};
  }
  bool bears_absence() const override { return true; }
  /// Momentum carries the mean on, so it follows no gradient.
  Invariants invariants(const CostQuery&) const override { return {}; }
  std::vector<std::string> trials() const override {
    return {"", "every=2,topology=ring,outer_momentum=0,outer_lr=1,pull=0.75"};
  }
  Cost cost(const CostQuery& query) const override {
    if (!communicates(query.step)) return {};
    const auto topology = make_topology(topology_spec_, vertices(query));
    return sum_over_buckets(query, [&](const Shape& bucket) {
      return gossip_cost(query, *topology, query.step / every_, {bucket, bucket});
    });
  }
  void check(const CostQuery& query) const override {
    make_doubly_stochastic(topology_spec_, vertices(query), "no_loco");
  }

  void setup(Worker& worker, std::span<Bucket> buckets) override {
    topology_ = make_topology(topology_spec_, vertices(worker));
    for (const Bucket& bucket : buckets) {
      worker.device.copy(bucket.weights, slow_.emplace_back(worker.device.allocate(bucket.weights.shape())));
      moves_.push_back(worker.device.allocate(bucket.weights.shape()));
    }
  }
  /// The mean of slow weights.
  void global_weights(Worker& worker, Bucket& bucket) override {
    worker.device.copy(slow_[static_cast<std::size_t>(bucket.index)], bucket.weights);
    Algorithm::global_weights(worker, bucket);
  }
  void list_state(State& state) override {
    state.buffers("slow", slow_, Fate::balanced).buffers("move", moves_, Fate::balanced);
  }

 private:
  bool communicates(std::int64_t step) const override { return (step + 1) % every_ == 0; }

  void exchange(Worker& lane, Bucket& bucket) override {
    const auto index = static_cast<std::size_t>(bucket.index);
    const Buffer slow = slow_[index], move = moves_[index];
    const Buffer learned = bucket.gradients;  // free by now
    lane.device.fused(Activity::compute, "difference", [&] {
      lane.device.copy(slow, learned);
      lane.device.axpby(-1.0F, bucket.weights, 1.0F, learned);
      lane.device.copy(slow, bucket.weights);
    });
    gossip(lane, *topology_, lane.step / every_, {learned, bucket.weights});
    lane.device.fused(Activity::compute, "outer", [&] {
      lane.device.weighted_sum(std::array{move, learned, slow, bucket.weights},
                               std::array{outer_momentum_, -outer_lr_, -pull_, pull_}, move);
      lane.device.axpby(1.0F, move, 1.0F, slow);
      lane.device.copy(slow, bucket.weights);
    });
  }

  std::int64_t every_;
  std::string topology_spec_;
  float outer_momentum_, outer_lr_, pull_;
  std::unique_ptr<const Topology> topology_;
  std::vector<OwnedBuffer> slow_;   ///< φ
  std::vector<OwnedBuffer> moves_;  ///< δ
};

const Algorithms::Registration registration(
    "no_loco",
    {"train alone, move slow weights with a random partner every few steps",
     "Kolehmainen et al., NoLoCo: no-all-reduce low communication training method for large models, 2025, "
     "arXiv:2506.10911",
     "Islands far apart that no all-reduce should join: a rank waits for one other alone.",
     "Few ranks: drawing slow weights together takes several exchanges, an all-reduce one."},
    [](Params& params) { return std::make_unique<NoLoCo>(params); });

}  // namespace
}  // namespace trigram
