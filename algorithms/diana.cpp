// DIANA: ranks send what their gradients differ from an estimate that all of them keep, so that what is encoded, and
// what encoding loses, vanishes as training settles, however much data differ between ranks.
//   c_j = Q(g_j − h_j);  g ← h + mean c;  h_j ← h_j + α c_j;  h ← h + α mean c;  x ← x − γ g, with h = mean h_j
// With α = 1 and a contraction as Q, h_j + c_j is EF21's estimate (Richtárik et al., NeurIPS 2021, arXiv:2106.05203).
//   rounds n − 1, bytes (n−1) encoded(S/4) per rank
#include "core/compression/compressed_all_gather.hpp"
#include "core/compression/encoding_error.hpp"
#include "core/compression/encoding_key.hpp"
#include "core/primitives/centralized.hpp"
#include "core/step/bucketwise.hpp"

namespace trigram {
namespace {

/// What a rank keeps of a bucket, of its part in the group; nothing in a group of one.
struct Estimates {
  OwnedBuffer own;    ///< h_j
  OwnedBuffer mean;   ///< h, the same on all ranks
  OwnedBuffer error;  ///< what the last encoding lost
  Extent extent;      ///< of the part
};

class Diana final : public GradientMethod {
 public:
  explicit Diana(Params& params)
      : codec_(params.get("codec", "qsgd", "how differences are encoded")),
        model_(make_codec_model(codec_)),
        rate_(static_cast<float>(
            params.get("memory_rate", 0.5, "share α of a difference that estimates move by", {1e-9, 1}))) {}

  Trigram trigram() const override {
    return {Trigram::Synchrony::synchronous, Trigram::Precision::low, Trigram::Centrality::centralized};
  }
  std::vector<std::string> trials() const override { return {"", "codec=top_k,memory_rate=1"}; }
  Cost cost(const CostQuery& query) const override {
    return sum_over_buckets(query, [&](const Shape& bucket) {
      return centralized_low_precision_cost(query, bucket, *model_, FrameExchange::all_gather);
    });
  }
  /// A difference is some three gradients long.
  Invariants invariants(const CostQuery& query) const override {
    Invariants held = Algorithm::invariants(query);
    held.mean_error = 3 * encoding_error(query.buckets, *model_);
    return held;
  }
  void check(const CostQuery& query) const override {
    for (const BucketLayout& bucket : query.buckets) {
      const CodecProperties codec = model_->properties(bucket.shape.modelled_count);
      require(codec.contraction || (codec.unbiased && rate_ * (1 + codec.bound) <= 1), "codec ", codec_,
              " loses too much of ", bucket.shape.modelled_count, " elements for memory_rate=", number_text(rate_),
              "; take a contraction, or an unbiased codec with memory_rate of at most 1/(1 + ω), ω = ",
              number_text(codec.bound));
    }
  }

  void setup(Worker& worker, std::span<Bucket> buckets) override {
    codec_on_device_ = worker.device.make_codec(codec_);
    for (const Bucket& bucket : buckets) {
      const PrimitiveGroup group = primitive_group(worker, bucket.gradients);
      Estimates& kept = estimates_.emplace_back();
      if (group.comm == nullptr || group.comm->size() == 1) continue;
      for (OwnedBuffer* buffer : {&kept.own, &kept.mean, &kept.error})
        *buffer = worker.device.allocate(group.part.shape());
      kept.extent = extent_in(bucket.gradients, group.part);
    }
  }
  /// `mean` stays that of `own`.
  void list_state(State& state) override {
    for (const Estimates& kept : estimates_) {
      state.buffer("own", kept.own, Fate::joint, kept.extent);
      state.buffer("mean", kept.mean, Fate::joint, kept.extent);
    }
  }

 private:
  void exchange(Worker& lane, Bucket& bucket) override {
    hierarchical(lane, bucket.gradients, NodeValue::weighted_mean, [&](Communicator& group, Buffer part) {
      if (group.size() > 1) average(lane, group, bucket.index, part);
    });
  }

  void average(Worker& lane, Communicator& group, int bucket, Buffer g) {
    const Estimates& kept = estimates_[static_cast<std::size_t>(bucket)];
    const Key key = vector_key(lane, group, bucket);
    lane.device.fused(Activity::compute, "difference", [&] {
      lane.device.axpby(-1.0F, kept.own, 1.0F, g);
      lane.device.axpby(rate_, g, 1.0F, kept.own);
    });
    compressed_all_gather(lane, group, g, *codec_on_device_, key, kept.error);
    lane.device.fused(Activity::compute, "estimate", [&] {
      lane.device.axpby(-rate_, kept.error, 1.0F, kept.own);  // what encoding lost is not in c_j
      lane.device.axpby(1.0F, kept.mean, 1.0F, g);
      lane.device.axpby(rate_, g, 1.0F - rate_, kept.mean);
    });
  }

  std::string codec_;
  std::unique_ptr<const Codec> model_;
  float rate_;
  std::shared_ptr<const Codec> codec_on_device_;
  std::vector<Estimates> estimates_;
};

const Algorithms::Registration registration(
    "diana",
    {"average encoded differences of gradients from estimates that all ranks keep",
     "Mishchenko et al., Distributed learning with compressed gradient differences, 2019, arXiv:1901.09269",
     "Coarse unbiased codecs on data that differ between ranks: what encoding loses vanishes.",
     "Small batches: differences from an estimate are then as long as gradients."},
    [](Params& params) { return std::make_unique<Diana>(params); });

}  // namespace
}  // namespace trigram
