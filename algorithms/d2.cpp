// D²: gossip in which a rank's step undoes the variance between ranks that the step before brought: where data differ,
// all ranks still reach the optimum of the mean loss, with D-PSGD's messages.
//   x_{t+1} = W̃ (2 x_t − x_{t−1} − γ (g_t − g_{t−1})), and W̃ (x_0 − γ g_0) at first; W̃ = (I + W)/2
// With y_t = x_t − γ g_t, which the run's optimizer makes, what is mixed is y_t + x_t − y_{t−1}. The paper needs
// eigenvalues above −1/3; half of what is at home makes them at least 0 for any symmetric W (as exact diffusion does,
// Yuan et al., IEEE Trans. Signal Process. 2019, arXiv:1702.05122).
//   rounds 1, bytes degree · S per rank; overlaps with the rest of backward.
#include "core/primitives/gossip.hpp"
#include "core/step/bucketwise.hpp"
#include "core/values/error.hpp"

namespace trigram {
namespace {

/// (I + W)/2 of a fixed graph.
class HalfAtHome final : public Topology {
 public:
  explicit HalfAtHome(std::unique_ptr<const Topology> graph) : graph_(std::move(graph)) {}
  void resize(const Vertices&) override { throw Error("made for the vertices of its graph"); }
  int size() const override { return graph_->size(); }
  Row row(int vertex, std::int64_t step) const override {
    Row halves = graph_->row(vertex, step);
    for (auto& [other, weight] : halves) weight = (weight + (other == vertex ? 1.0 : 0.0)) / 2;
    return halves;
  }
  std::vector<int> sends_to(int vertex, std::int64_t step) const override { return graph_->sends_to(vertex, step); }
  bool directed() const override { return graph_->directed(); }
  std::int64_t period() const override { return graph_->period(); }

 private:
  std::unique_ptr<const Topology> graph_;
};

class DSquared final : public WeightMethod {
 public:
  explicit DSquared(Params& params)
      : topology_spec_(params.get("topology", "ring", "who exchanges with whom; symmetric and fixed")) {}

  Trigram trigram() const override {
    return {Trigram::Synchrony::synchronous, Trigram::Precision::full, Trigram::Centrality::decentralized};
  }
  std::vector<std::string> trials() const override { return {"", "topology=complete"}; }
  Cost cost(const CostQuery& query) const override {
    const auto topology = make_topology(topology_spec_, vertices(query));
    return sum_over_buckets(query,
                            [&](const Shape& bucket) { return gossip_cost(query, *topology, query.step, {bucket}); });
  }
  void check(const CostQuery& query) const override {
    const auto topology = make_doubly_stochastic(topology_spec_, vertices(query), "d2");
    require(!topology->directed() && topology->period() == 1,
            "d2 looks back to the step before, so topology=", topology_spec_,
            " must be symmetric and the same in every step, as ring, torus, hypercube, complete or star are");
  }

  void setup(Worker& worker, std::span<Bucket> buckets) override {
    topology_ = std::make_unique<HalfAtHome>(make_topology(topology_spec_, vertices(worker)));
    for (const Bucket& bucket : buckets) moved_.push_back(worker.device.allocate(bucket.weights.shape()));
  }
  void list_state(State& state) override { state.buffers("moved", moved_, Fate::joint); }

 private:
  bool communicates(std::int64_t) const override { return true; }

  void exchange(Worker& lane, Bucket& bucket) override {
    const Buffer moved = moved_[static_cast<std::size_t>(bucket.index)];
    const Buffer stepped = bucket.gradients;  // free by now: y_t
    lane.device.fused(Activity::compute, "look_back", [&] {
      lane.device.copy(bucket.weights, stepped);
      lane.device.axpby(1.0F, moved, 1.0F, bucket.weights);
    });
    gossip(lane, *topology_, 0, {bucket.weights});
    lane.device.fused(Activity::compute, "moved", [&] {
      lane.device.copy(bucket.weights, moved);
      lane.device.axpby(-1.0F, stepped, 1.0F, moved);
    });
  }

  std::string topology_spec_;
  std::unique_ptr<const Topology> topology_;
  std::vector<OwnedBuffer> moved_;  ///< x_t − y_{t−1} of each bucket: what mixing did last
};

const Algorithms::Registration registration(
    "d2",
    {"gossip that takes back what the last step set ranks apart by",
     "Tang et al., D²: decentralized training over decentralized data, ICML 2018, arXiv:1803.07068",
     "Gossip on data that differ much between ranks, in D-PSGD's bytes.",
     "Graphs that change, and noise that outweighs how ranks differ: it is added up over two steps."},
    [](Params& params) { return std::make_unique<DSquared>(params); });

}  // namespace
}  // namespace trigram
