// ZeRO++: gradients reach who owns a part of the weights in four bits, and the weights that it then has come back in
// eight. Each rank steps its part alone, in full precision, and keeps the optimizer's state of that part alone.
//   qgZ: p_j ← mean Q₄(g) of part j;  the run's optimizer steps w_j along p_j;  qwZ: x ← all parts Q₈(w_j)
// With --hierarchy all_nics qgZ goes in the paper's two hops, all to all inside nodes, decoded, added and encoded
// again, then all to all between the ranks of one local rank: between nodes go their means, not what each rank has;
// without, in one. Codecs are by blocks that share a scale, 4 and 8 bits an element (`bucket_size` of qsgd). hpZ,
// a second copy of the weights inside a node, is nothing here: weights stay whole on all ranks, as in ZeRO-1 and -2.
// gradients=identity,weights=identity is ZeRO-1, which all_reduce equals up to the order in which it adds.
//   rounds 1 + (n−1), bytes (n−1) (Q₄(S/4n) + Q₈(S/4n)) per rank; with all_nics of m nodes of r ranks 2 + (n−1), and
//   (r−1) Q₄(S/4r) + (m−1) Q₄(S/4n) + (n−1) Q₈(S/4n)
#include <algorithm>
#include <optional>
#include <utility>

#include "core/compression/compressed_all_gather.hpp"
#include "core/compression/compressed_reduce_scatter.hpp"
#include "core/compression/encoding_error.hpp"
#include "core/step/bucketwise.hpp"

namespace trigram {
namespace {

/// The chunk of a vector that each rank owns. With a hierarchy: the local rank's chunk of the vector, and of that the
/// node's chunk.
class OwnedParts {
 public:
  OwnedParts(Hierarchy hierarchy, std::span<const int> node_of_rank) {
    const auto ranks = static_cast<int>(node_of_rank.size());
    std::vector<int> size(node_of_rank.size(), 0);
    for (int rank = 0; rank < ranks; ++rank) {
      const int node = node_of_rank[static_cast<std::size_t>(rank)];
      if (hierarchy == Hierarchy::none) {
        cuts_.push_back({{rank, ranks}, {0, 1}});
      } else {
        cuts_.push_back({{size[static_cast<std::size_t>(node)]++, 0}, {node, 0}});
      }
    }
    if (hierarchy == Hierarchy::none) return;
    const auto nodes = static_cast<int>(size.size() - static_cast<std::size_t>(std::ranges::count(size, 0)));
    for (auto& [local, node] : cuts_) local.parts = size.front(), node.parts = nodes;
  }

  int ranks() const { return static_cast<int>(cuts_.size()); }
  Buffer of(int rank, const Buffer& x) const {
    const auto& [first, second] = cuts_[static_cast<std::size_t>(rank)];
    return x.chunk(first.which, first.parts).chunk(second.which, second.parts);
  }
  Bucket of(int rank, const Bucket& x) const {
    const auto& [first, second] = cuts_[static_cast<std::size_t>(rank)];
    return x.part(first.which, first.parts).part(second.which, second.parts);
  }
  std::int64_t of(int rank, std::int64_t count) const {
    const auto& [first, second] = cuts_[static_cast<std::size_t>(rank)];
    return chunk_count(chunk_count(count, first.parts, first.which), second.parts, second.which);
  }

 private:
  struct Cut {
    int which, parts;
  };
  std::vector<std::pair<Cut, Cut>> cuts_;
};

class ZeroPlusPlus final : public GradientMethod {
 public:
  explicit ZeroPlusPlus(Params& params)
      : gradients_(
            params.get("gradients", "qsgd:levels=7,bucket_size=256,stochastic=off", "how gradients are encoded")),
        weights_(params.get("weights", "qsgd:levels=127,bucket_size=256,stochastic=off", "how weights are encoded")),
        gradients_model_(make_codec_model(gradients_)),
        weights_model_(make_codec_model(weights_)) {}

  Trigram trigram() const override {
    return {Trigram::Synchrony::synchronous, Trigram::Precision::low, Trigram::Centrality::centralized};
  }
  Refusal refuses(Option option) const override {
    return option != Option::leader ? Refusal{}
                                    : "each rank of a node owns its own part of the weights; use --hierarchy all_nics";
  }
  std::vector<std::string> trials() const override {
    return {"", "gradients=identity,weights=identity", "gradients=qsgd"};
  }

  Cost cost(const CostQuery& query) const override {
    return sum_over_buckets(query, [&](const Shape& bucket) {
      return gradients_cost(query, bucket.modelled_count) + weights_cost(query, bucket);
    });
  }
  /// Where weights lose nothing, the mean is off by what gradients lose.
  Invariants invariants(const CostQuery& query) const override {
    Invariants held = Algorithm::invariants(query);
    const double lost = encoding_error(query.buckets, *gradients_model_);
    held.mean_error = 2 * lost + lost * lost;
    if (encoding_error(query.buckets, *weights_model_) > 0) held.mean_error.reset();
    held.may_start_apart = "each rank owns another part of the weights";
    return held;
  }

  void setup(Worker& worker, std::span<Bucket> buckets) override {
    gradients_on_device_ = worker.device.make_codec(gradients_);
    weights_on_device_ = worker.device.make_codec(weights_);
    parts_.emplace(worker.relaxation.hierarchy, worker.runtime().map().nodes_of_group(worker.runtime().rank()));
    for (const Bucket& bucket : buckets) {
      const Buffer part = parts_->of(worker.rank(), bucket.weights);
      worker.device.copy(part, master_.emplace_back(worker.device.allocate_unfilled(part.shape())));
      extents_.push_back(extent_in(bucket.weights, part));
    }
  }
  void list_state(State& state) override { state.buffers("master", master_, Fate::cut, extents_); }

  std::optional<Bucket> stepped(const Worker& worker, const Bucket& bucket) const override {
    Bucket part = parts_->of(worker.rank(), bucket);
    part.weights = master_[static_cast<std::size_t>(bucket.index)];
    return part;
  }
  void after_update(Worker& worker, Bucket& bucket) override {
    gathers_.start(worker, bucket, [this, &bucket](Worker& lane) { gather_weights(lane, bucket); });
  }
  void after_step(Worker&) override { gathers_.wait(); }

 private:
  void exchange(Worker& lane, Bucket& bucket) override {
    const Codec& codec = *gradients_on_device_;
    Key key = lane.key(bucket.index, Phase::worker);
    if (lane.relaxation.hierarchy == Hierarchy::none)
      return compressed_reduce_scatter(lane, lane.comm, bucket.gradients, codec, key);
    // Ranks of other nodes, and of other local ranks, encode other chunks.
    const int nodes = lane.leaders.size(), size = lane.node.size();
    Key inside = lane.key(bucket.index, Phase::node);
    inside.rank = lane.node.rank();
    inside.chunk = lane.leaders.rank() * size;
    compressed_reduce_scatter(lane, lane.node, bucket.gradients, codec, inside);
    key.rank = lane.leaders.rank();
    key.chunk = lane.node.rank() * nodes;
    compressed_reduce_scatter(lane, lane.leaders, bucket.gradients.chunk(lane.node.rank(), size), codec, key);
  }

  void gather_weights(Worker& lane, const Bucket& bucket) const {
    const Buffer master = master_[static_cast<std::size_t>(bucket.index)];
    if (lane.world_size() == 1) return lane.device.copy(master, bucket.weights);
    std::vector<Buffer> parts;
    for (int rank = 0; rank < lane.world_size(); ++rank) parts.push_back(parts_->of(rank, bucket.weights));
    compressed_all_gather_parts(lane, lane.comm, master, parts, *weights_on_device_,
                                lane.key(bucket.index, Phase::server));
  }

  Cost gradients_cost(const CostQuery& query, std::int64_t count) const {
    const auto& [rank, ranks, node, nodes, local_rank, node_size] = query.place;
    if (query.hierarchy == Hierarchy::none)
      return compressed_reduce_scatter_cost(ranks, rank, count, *gradients_model_);
    return compressed_reduce_scatter_cost(node_size, local_rank, count, *gradients_model_) +
           compressed_reduce_scatter_cost(nodes, node, chunk_count(count, node_size, local_rank), *gradients_model_);
  }
  Cost weights_cost(const CostQuery& query, const Shape& bucket) const {
    std::vector<int> nodes(query.node_of_rank.begin(), query.node_of_rank.end());
    for (int rank = static_cast<int>(nodes.size()); rank < query.place.ranks; ++rank) nodes.push_back(rank);
    const OwnedParts parts(query.hierarchy, nodes);
    std::vector<std::int64_t> counts;
    for (int rank = 0; rank < parts.ranks(); ++rank) counts.push_back(parts.of(rank, bucket.modelled_count));
    return compressed_all_gather_parts_cost(query.place.rank, counts, *weights_model_);
  }

  std::string gradients_, weights_;
  std::unique_ptr<const Codec> gradients_model_, weights_model_;
  std::shared_ptr<const Codec> gradients_on_device_, weights_on_device_;
  std::optional<OwnedParts> parts_;
  std::vector<OwnedBuffer> master_;  ///< w of this rank's part, which nobody has rounded
  std::vector<Extent> extents_;      ///< of that part
  PendingBuckets gathers_;
};

const Algorithms::Registration registration(
    "zero_pp",
    {"reduce gradients to their owners in 4 bits by blocks, and gather weights in 8",
     "Wang et al., ZeRO++: extremely efficient collective communication for giant model training, ICLR 2024, "
     "arXiv:2306.10209",
     "Optimizer state that no rank can hold whole, on slow networks between fast nodes.",
     "Small models, whose state fits everywhere: bytegrad rounds gradients alone, and weights stay exact."},
    [](Params& params) { return std::make_unique<ZeroPlusPlus>(params); });

}  // namespace
}  // namespace trigram
