// DeMo, decoupled momentum: ranks keep momentums of their own, of which only the frequencies that are largest in them
// travel and are forgotten; all step by the sign of what those say together.
//   e_j ← β e_j + γ DCT(g_j);  q_j = top_k(e_j) of each chunk;  e_j ← e_j − q_j
//   g ← sign IDCT(mean q), each frequency's mean over those ranks that sent it;  x ← x − γ g
// DCT is the orthonormal DCT-II of each chunk, a matrix product. It is linear, so e is kept as its frequencies, which
// the paper's δ is the IDCT of. The paper's code cuts a matrix into blocks of 64 × 64 and keeps 32 frequencies of each,
// in two dimensions; here chunks are runs of a bucket as it lies, the last one filled up with zeros, so that a node's
// ranks can share a bucket (all_nics) and nobody needs to know a tensor's dimensions. With one rank the
// method is the same.
//   rounds n − 1, bytes 5 k (n−1) ⌈S/(4 chunk)⌉ per rank
#include <cmath>
#include <numbers>

#include "core/compression/compressed_all_gather.hpp"
#include "core/compression/encoding_key.hpp"
#include "core/step/bucketwise.hpp"

namespace trigram {
namespace {

constexpr double least_size = 1e-36;  // added to a divisor so that 0/0 is 0; vanishes in any other sum

/// Row f is frequency f of the orthonormal DCT-II of so many elements.
std::vector<float> cosines(std::int64_t elements) {
  std::vector<float> rows;
  const auto size = static_cast<double>(elements);
  for (std::int64_t f = 0; f < elements; ++f) {
    const double scale = std::sqrt((f == 0 ? 1 : 2) / size);
    for (std::int64_t i = 0; i < elements; ++i) {
      const double angle = std::numbers::pi * static_cast<double>((2 * i + 1) * f % (4 * elements)) / (2 * size);
      rows.push_back(static_cast<float>(scale * std::cos(angle)));
    }
  }
  return rows;
}

/// Of a rank's part of a bucket, filled up to whole chunks.
struct Spectrum {
  OwnedBuffer momentum;        ///< e
  OwnedBuffer elements, mean;  ///< of the step under way
  Extent extent;               ///< of the momentum among those of a node's ranks
};

class DecoupledMomentum final : public GradientMethod {
 public:
  explicit DecoupledMomentum(Params& params)
      : chunk_(params.get("chunk", std::int64_t{64}, "elements that are transformed together", {1, 4096})),
        codec_("chunk_top_k:chunk=" + std::to_string(chunk_) + ",k=" +
               std::to_string(params.get("k", std::int64_t{8}, "frequencies of a chunk that are sent", {1, 4096}))),
        model_(make_codec_model(codec_)),
        decay_(static_cast<float>(params.get("decay", 0.999, "β, share of the momentum that is kept", {0, 1}))) {}

  Trigram trigram() const override {
    return {Trigram::Synchrony::synchronous, Trigram::Precision::low, Trigram::Centrality::centralized};
  }
  std::vector<std::string> trials() const override { return {"", "chunk=4,k=1,decay=0.5"}; }
  Cost cost(const CostQuery& query) const override {
    return sum_over_buckets(query, [&](const Shape& bucket) {
      return hierarchical_cost(
          query.hierarchy, query.place, bucket.modelled_count, size_of(bucket.dtype),
          [&](int ranks, int, std::int64_t count) { return compressed_all_gather_cost(ranks, whole(count), *model_); });
    });
  }

  void setup(Worker& worker, std::span<Bucket> buckets) override {
    codec_on_device_ = worker.device.make_codec(codec_);
    marks_ = worker.device.make_codec(codec_ + ",marks=on");
    basis_ = worker.device.allocate_unfilled(Shape::of(chunk_ * chunk_, DType::f32));
    worker.device.upload(std::as_bytes(std::span<const float>(cosines(chunk_))), basis_);
    for (const Bucket& bucket : buckets) {
      Shape shape = primitive_group(worker, bucket.gradients).part.shape();
      shape.count = whole(shape.count);
      shape.modelled_count = whole(shape.modelled_count);
      spectra_.push_back({worker.device.allocate(shape), worker.device.allocate_unfilled(shape),
                          worker.device.allocate_unfilled(shape), extent_of(worker, bucket.gradients)});
    }
  }
  void list_state(State& state) override {
    for (const Spectrum& own : spectra_) state.buffer("momentum", own.momentum, Fate::averaged, own.extent);
  }

 private:
  /// Frequencies of a part say nothing of another part: each has a place as long as the longest.
  Extent extent_of(const Worker& worker, const Buffer& gradients) const {
    if (worker.relaxation.hierarchy != Hierarchy::all_nics) return {};
    const std::int64_t longest = whole(gradients.chunk(0, worker.node.size()).count());
    return {worker.node.rank() * longest, worker.node.size() * longest};
  }
  std::int64_t whole(std::int64_t count) const { return (count + chunk_ - 1) / chunk_ * chunk_; }

  void exchange(Worker& lane, Bucket& bucket) override {
    hierarchical(lane, bucket.gradients, NodeValue::weighted_mean,
                 [&](Communicator& group, Buffer part) { agree_on_sign(lane, group, bucket.index, part); });
  }

  void agree_on_sign(Worker& lane, Communicator& group, int bucket, Buffer g) {
    const Spectrum& own = spectra_[static_cast<std::size_t>(bucket)];
    Device& device = lane.device;
    const Buffer begin = own.elements.view().slice(0, g.count(), g.modelled_count());
    device.fused(Activity::encode, "transform", [&] {
      device.fill(own.elements, 0);
      device.copy(g, begin);
      // e ← β e + γ · elements · basisᵀ
      const float rate = static_cast<float>(lane.learning_rate);
      device.gemm({rows(own), chunk_, chunk_, false, true, rate, decay_}, own.elements, basis_, own.momentum);
    });
    const Key key = vector_key(lane, group, bucket);
    const Frames frames = gather_frames(lane, group, own.momentum, *codec_on_device_, key);
    codec_on_device_->decode_add(device, frames[group.rank()], -1.0F, own.momentum, key);
    device.fused(Activity::decode, "sign", [&] {
      average_over_senders(device, frames, key, own);
      device.gemm({rows(own), chunk_, chunk_}, own.mean, basis_, own.elements);
      device.copy(begin, g);
      take_signs(device, g, begin, own.mean.view().slice(0, g.count(), g.modelled_count()));
    });
  }

  /// mean ← Σ q_j/(how many sent that frequency), which `elements` counts; 0 where nobody did.
  void average_over_senders(Device& device, const Frames& frames, Key key, const Spectrum& own) const {
    device.fill(own.mean, 0);
    device.fill(own.elements, least_size);
    for (key.rank = 0; key.rank < static_cast<int>(frames.all().size()); ++key.rank) {
      codec_on_device_->decode_add(device, frames[key.rank], 1.0F, own.mean, key);
      marks_->decode_add(device, frames[key.rank], 1.0F, own.elements, key);
    }
    device.divide(own.elements, own.mean);
  }

  /// g ← g/|g|, and 0 where it is 0; `size` has g too.
  static void take_signs(Device& device, Buffer g, Buffer size, Buffer least) {
    device.scale(size, -1);
    device.reduce(ReduceOp::max, g, size);
    device.fill(least, least_size);
    device.axpby(1, least, 1, size);
    device.divide(size, g);
  }

  std::int64_t rows(const Spectrum& own) const { return own.momentum.view().count() / chunk_; }

  std::int64_t chunk_;
  std::string codec_;
  std::unique_ptr<const Codec> model_;
  float decay_;
  std::shared_ptr<const Codec> codec_on_device_, marks_;
  OwnedBuffer basis_;  ///< DCT-II of a chunk, a row a frequency
  std::vector<Spectrum> spectra_;
};

const Algorithms::Registration registration(
    "demo",
    {"step by the sign of the largest frequencies of ranks' own momentums",
     "Peng et al., DeMo: decoupled momentum optimization, 2024, arXiv:2411.19870",
     "Training language models over the internet: megabytes a step where gradients take gigabytes.",
     "Losses that need steps of different sizes: every weight moves by the learning rate in every step."},
    [](Params& params) { return std::make_unique<DecoupledMomentum>(params); });

}  // namespace
}  // namespace trigram
