// Deep gradient compression: ranks send the largest elements of their accumulated gradients, momentum included, and
// clear what was sent from both accumulators, so that old directions are not pushed again.
//   u ← m u + g;  v ← v + u;  g ← mean top_k(v);  where an element was sent u ← 0 and v ← 0;  x ← x − γ g
// In the first `warmup` steps a share of 1/4, 1/16, … is sent, down to `fraction`. The paper's clipping of gradients is
// left out. With a share of 1 it is plain SGD: masking clears the momentum. The run's optimizer should have none of its
// own.
//   rounds n − 1, bytes 8 (n−1) fraction S/4 per rank

#include "core/compression/compressed_all_gather.hpp"
#include "core/compression/encoding_key.hpp"
#include "core/primitives/centralized.hpp"
#include "core/step/bucketwise.hpp"

namespace trigram {
namespace {

/// The local accumulation of a bucket, for this rank's part in the group; empty in a group of one.
struct Accumulated {
  OwnedBuffer momentum;      ///< u
  OwnedBuffer sum;           ///< v
  OwnedBuffer before, left;  ///< v as it was and as it is, while u is masked
  Extent extent;             ///< of the part
};

class DeepGradientCompression final : public GradientMethod {
 public:
  explicit DeepGradientCompression(Params& params)
      : fraction_(params.get("fraction", 0.001, "share of the elements that is sent in the end", {1e-9, 1})),
        warmup_(params.get("warmup", std::int64_t{0}, "steps in which that share falls from 1/4", {0, 1'000'000'000})),
        momentum_(static_cast<float>(params.get("momentum", 0.9, "m, share of the momentum that is kept", {0, 1}))) {
    for (double share = 0.25; warmup_ > 0 && share > fraction_; share /= 4) codecs_.push_back(codec_of(share));
    codecs_.push_back(codec_of(fraction_));
    for (const std::string& codec : codecs_) models_.push_back(make_codec_model(codec));
  }

  Trigram trigram() const override {
    return {Trigram::Synchrony::synchronous, Trigram::Precision::low, Trigram::Centrality::centralized};
  }
  std::vector<std::string> trials() const override { return {"", "fraction=0.2,warmup=4,momentum=0.5"}; }
  /// Momentum carries the mean on.
  Invariants invariants(const CostQuery&) const override {
    return {.replicas = Invariants::Replicas::equal_after_exchanges};
  }
  Cost cost(const CostQuery& query) const override {
    return sum_over_buckets(query, [&](const Shape& bucket) {
      return centralized_low_precision_cost(query, bucket, *models_[phase(query.step)], FrameExchange::all_gather);
    });
  }

  void setup(Worker& worker, std::span<Bucket> buckets) override {
    for (const std::string& codec : codecs_) on_device_.push_back(worker.device.make_codec(codec));
    for (const Bucket& bucket : buckets) {
      const PrimitiveGroup group = primitive_group(worker, bucket.gradients);
      Accumulated& own = accumulated_.emplace_back();
      if (group.comm == nullptr || group.comm->size() == 1) continue;
      for (OwnedBuffer* buffer : {&own.momentum, &own.sum, &own.before, &own.left})
        *buffer = worker.device.allocate(group.part.shape());
      own.extent = extent_in(bucket.gradients, group.part);
    }
  }
  void list_state(State& state) override {
    for (const Accumulated& own : accumulated_) {
      state.buffer("momentum", own.momentum, Fate::averaged, own.extent);
      state.buffer("sum", own.sum, Fate::averaged, own.extent);
    }
  }

 private:
  static std::string codec_of(double share) { return "top_k:fraction=" + number_text(share); }
  /// Which of the codecs a step uses: each as long as the others in the warm-up, then the last one.
  std::size_t phase(std::int64_t step) const {
    const auto falling = static_cast<std::int64_t>(codecs_.size()) - 1;
    return static_cast<std::size_t>(step < warmup_ ? step * falling / warmup_ : falling);
  }

  void exchange(Worker& lane, Bucket& bucket) override {
    hierarchical(lane, bucket.gradients, NodeValue::weighted_mean, [&](Communicator& group, Buffer part) {
      if (group.size() > 1) average(lane, group, bucket.index, part);
    });
  }

  void average(Worker& lane, Communicator& group, int bucket, Buffer g) {
    const Accumulated& own = accumulated_[static_cast<std::size_t>(bucket)];
    const Key key = vector_key(lane, group, bucket);
    lane.device.fused(Activity::compute, "momentum", [&] {
      lane.device.axpby(1.0F, g, momentum_, own.momentum);
      lane.device.axpby(1.0F, own.momentum, 1.0F, own.sum);
      lane.device.copy(own.sum, g);
      lane.device.copy(own.sum, own.before);
    });
    compressed_all_gather(lane, group, g, *on_device_[phase(lane.step)], key, own.sum);
    lane.device.fused(Activity::compute, "mask", [&] { mask(lane.device, own); });
  }

  /// u ← u · v/v before, which is 1, or 0 where v was sent; what is added to both is lost beside anything but 0.
  static void mask(Device& device, const Accumulated& own) {
    constexpr double next_to_nothing = 1e-30;
    device.fill(own.left, next_to_nothing);
    device.axpby(1.0F, own.left, 1.0F, own.before);
    device.axpby(1.0F, own.sum, 1.0F, own.left);
    device.divide(own.before, own.left);
    device.multiply(own.left, own.momentum);
  }

  double fraction_;
  std::int64_t warmup_;
  float momentum_;
  std::vector<std::string> codecs_;  ///< one after the other, in the warm-up, and the last one for the rest
  std::vector<std::unique_ptr<const Codec>> models_;
  std::vector<std::shared_ptr<const Codec>> on_device_;
  std::vector<Accumulated> accumulated_;
};

const Algorithms::Registration registration(
    "dgc",
    {"send the largest elements of the accumulated momentum, and clear what was sent",
     "Lin et al., Deep gradient compression, ICLR 2018, arXiv:1712.01887",
     "Very slow networks and large models: a thousandth of the elements travels, with momentum's quality.",
     "Many ranks, whose frames all go to all, and optimizers with moments of their own."},
    [](Params& params) { return std::make_unique<DeepGradientCompression>(params); });

}  // namespace
}  // namespace trigram
