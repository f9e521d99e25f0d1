// CHOCO-SGD: gossip of encoded differences to public copies, towards which a rank's own weights move by a step size, so
// that any contraction will do as codec, however coarse.
//   x ← x − γ g;  q_i = Q(x_i − x̂_i);  x̂_i ← x̂_i + q_i;  s_i ← s_i + Σ_j W_ij q_j;  x_i ← x_i + η (s_i − x̂_i)
// s_i = Σ_j W_ij x̂_j is all that a rank keeps of its neighbours. For symmetric W the mean of weights follows the mean
// gradient whatever the codec loses. With exact messages and η = 1 it is W (x − γ g).
//   rounds 1, bytes degree · encoded(S/4) per rank; overlaps with the rest of backward.
#include <algorithm>

#include "core/compression/encoding_key.hpp"
#include "core/compression/frames.hpp"
#include "core/primitives/decentralized.hpp"
#include "core/step/bucketwise.hpp"
#include "core/values/error.hpp"

namespace trigram {
namespace {

/// What a vertex keeps of a bucket; nothing in a group of one.
struct PublicCopies {
  OwnedBuffer own;    ///< x̂_i
  OwnedBuffer mixed;  ///< s_i
};

class ChocoSgd final : public WeightMethod {
 public:
  explicit ChocoSgd(Params& params)
      : codec_(params.get("codec", "top_k:fraction=0.1", "how differences are encoded")),
        topology_spec_(params.get("topology", "ring", "who exchanges with whom; symmetric and fixed")),
        step_size_(static_cast<float>(params.get("step_size", 0.4, "share of the way to the mixed copies", {1e-9, 1}))),
        model_(make_codec_model(codec_)) {}

  Trigram trigram() const override {
    return {Trigram::Synchrony::synchronous, Trigram::Precision::low, Trigram::Centrality::decentralized};
  }
  std::vector<std::string> trials() const override { return {"", "codec=one_bit,topology=complete,step_size=0.2"}; }
  bool bears_absence() const override { return true; }
  /// Whatever is lost is lost alike at both ends of an edge.
  Invariants invariants(const CostQuery&) const override { return {.mean_error = 0}; }
  Cost cost(const CostQuery& query) const override {
    const auto topology = make_topology(topology_spec_, vertices(query));
    return sum_over_buckets(query, [&](const Shape& bucket) {
      return decentralized_low_precision_cost(query, *topology, bucket, *model_);
    });
  }
  void check(const CostQuery& query) const override {
    const auto topology = make_doubly_stochastic(topology_spec_, vertices(query), "choco_sgd");
    require(!topology->directed() && topology->period() == 1,
            "choco_sgd keeps what its neighbours said, so topology=", topology_spec_,
            " must be symmetric and the same in every step, as ring, torus, hypercube, complete or star are");
    for (const BucketLayout& bucket : query.buckets)
      require_stable_under_feedback(*model_, codec_, bucket.shape.modelled_count);
  }

  void setup(Worker& worker, std::span<Bucket> buckets) override {
    codec_on_device_ = worker.device.make_codec(codec_);
    topology_ = make_topology(topology_spec_, vertices(worker));
    for (const Bucket& bucket : buckets) {
      const PrimitiveGroup group = primitive_group(worker, bucket.weights);
      PublicCopies& kept = copies_.emplace_back();
      if (group.comm == nullptr || group.comm->size() == 1) continue;
      for (OwnedBuffer* copy : {&kept.own, &kept.mixed})
        worker.device.copy(group.part, *copy = worker.device.allocate(group.part.shape()));
    }
  }
  void list_state(State& state) override {
    for (const PublicCopies& kept : copies_)
      state.buffer("own copy", kept.own, Fate::anew).buffer("mixed copies", kept.mixed, Fate::anew);
  }

 private:
  bool communicates(std::int64_t) const override { return true; }

  void exchange(Worker& lane, Bucket& bucket) override {
    hierarchical(lane, bucket.weights, NodeValue::mean, [&](Communicator& group, Buffer part) {
      // Gradients are free by now.
      if (group.size() > 1) mix(lane, group, bucket.index, part, primitive_group(lane, bucket.gradients).part);
    });
  }

  void mix(Worker& lane, Communicator& group, int bucket, Buffer x, Buffer difference) {
    const PublicCopies& kept = copies_[static_cast<std::size_t>(bucket)];
    const Topology::Row row = topology_->row(group.rank(), 0);
    const std::vector<int> peers = topology_->receives_from(group.rank(), 0);
    const std::vector<Shape> vectors(peers.size() + 1, x.shape());
    const Frames frames = Frames::row(group, *codec_on_device_, vectors);
    const Buffer own = frames.last();
    Key key = vector_key(lane, group, bucket);
    lane.device.weighted_sum(std::array{x, kept.own.view()}, std::array{1.0F, -1.0F}, difference);
    codec_on_device_->encode(lane.device, difference, own, key);
    const std::vector<int> gone = swap_with_peers(group, peers, frames);

    codec_on_device_->decode_add(lane.device, own, 1.0F, kept.own, key);
    for (const auto& [vertex, weight] : row) {
      if (std::ranges::binary_search(gone, vertex)) continue;
      key.rank = vertex;
      const auto place = static_cast<int>(std::find(peers.begin(), peers.end(), vertex) - peers.begin());
      codec_on_device_->decode_add(lane.device, frames[place], static_cast<float>(weight), kept.mixed, key);
    }
    lane.device.weighted_sum(std::array{x, kept.mixed.view(), kept.own.view()},
                             std::array{1.0F, step_size_, -step_size_}, x);
  }

  std::string codec_, topology_spec_;
  float step_size_;
  std::unique_ptr<const Codec> model_;
  std::shared_ptr<const Codec> codec_on_device_;
  std::unique_ptr<const Topology> topology_;
  std::vector<PublicCopies> copies_;
};

const Algorithms::Registration registration(
    "choco_sgd",
    {"gossip encoded differences to public copies, and move towards them",
     "Koloskova et al., Decentralized stochastic optimization and gossip algorithms with compressed communication, "
     "ICML 2019, arXiv:1902.00340",
     "Gossip in few bits, as a bit or a tenth of the elements, where dcd_psgd would diverge.",
     "Where nobody can spare a trial for the step size: too large a one diverges, too small a one mixes slowly."},
    [](Params& params) { return std::make_unique<ChocoSgd>(params); });

}  // namespace
}  // namespace trigram
