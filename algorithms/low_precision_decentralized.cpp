// Low-precision decentralized SGD (DCD-PSGD): after its local update each rank sends its neighbours the encoded
// difference to the mixed weights; everyone keeps replicas of its neighbours. Any symmetric topology with fixed
// neighbours.
//   rounds 1, bytes degree · encoded(S/4) per rank; overlaps with the rest of backward.
#include "core/primitives/decentralized.hpp"
#include "core/step/bucketwise.hpp"

namespace trigram {
namespace {

class LowPrecisionDecentralized final : public WeightMethod {
 public:
  explicit LowPrecisionDecentralized(Params& params)
      : codec_(params.get("codec", "minmax_uint8", "how differences are encoded")),
        topology_(params.get("topology", "ring", "who exchanges with whom; symmetric and fixed")),
        model_(make_codec_model(codec_)) {}

  Trigram trigram() const override {
    return {Trigram::Synchrony::synchronous, Trigram::Precision::low, Trigram::Centrality::decentralized};
  }

  bool bears_absence() const override { return true; }
  Cost cost(const CostQuery& query) const override {
    const auto topology = make_topology(topology_, vertices(query));
    return sum_over_buckets(query, [&](const Shape& bucket) {
      return decentralized_low_precision_cost(query, *topology, bucket, *model_);
    });
  }

  std::vector<std::string> trials() const override { return {"", "codec=bf16", "topology=complete"}; }
  Invariants invariants(const CostQuery& query) const override {
    return decentralized_low_precision_invariants(query, *make_topology(topology_, vertices(query)), *model_);
  }

  void check(const CostQuery& query) const override {
    const auto topology = make_doubly_stochastic(topology_, vertices(query), "low_precision_decentralized");
    require(!topology->directed() && topology->period() == 1,
            "low_precision_decentralized keeps replicas of its neighbours, so topology=" + topology_ +
                " must be symmetric and the same in every step, as ring, torus, hypercube, complete or star are");
    for (const BucketLayout& bucket : query.buckets)
      require_stable_under_feedback(*model_, codec_, bucket.shape.modelled_count);
  }

  void setup(Worker& worker, std::span<Bucket> buckets) override {
    const std::shared_ptr<const Codec> codec = worker.device.make_codec(codec_);
    const std::shared_ptr<const Topology> topology = make_topology(topology_, vertices(worker));
    for (const Bucket& bucket : buckets) mixes_.emplace_back(worker, bucket, codec, topology);
  }

  void list_state(State& state) override { state.of_each("mix", mixes_); }

 private:
  bool communicates(std::int64_t) const override { return true; }
  void exchange(Worker& lane, Bucket& bucket) override {
    mixes_[static_cast<std::size_t>(bucket.index)].mix(lane, bucket.weights);
  }

  std::string codec_;
  std::string topology_;
  std::unique_ptr<const Codec> model_;
  std::vector<DecentralizedLowPrecision> mixes_;
};

const Algorithms::Registration registration(
    "low_precision_decentralized",
    {"gossip encoded differences of weights",
     "Tang et al., Communication compression for decentralized training, NeurIPS 2018, arXiv:1803.06443",
     "Gossip on slow networks with a fine codec, as eight bits.",
     "Coarse codecs, which choco_sgd is for, and graphs that change."},
    [](Params& params) { return std::make_unique<LowPrecisionDecentralized>(params); });

}  // namespace
}  // namespace trigram
