// SparseLoCo: every `every` steps ranks send the largest elements of their outer gradients x_begin − x_j, and keep the
// rest, which decays, for the next exchanges (error feedback).
//   e_j ← β e_j + (x_begin − x_j);  D_j = Q(e_j);  e_j ← e_j − D_j;  x_begin ← x_begin − α mean D;  x_j ← x_begin
// Replicas are equal after each exchange. The paper's values have two bits; here they travel as the codec has them.
//   rounds (n−1)/every, bytes (n−1) encoded(S/4) / every per rank and step
#include <utility>

#include "core/compression/compressed_all_gather.hpp"
#include "core/compression/encoding_key.hpp"
#include "core/primitives/centralized.hpp"
#include "core/step/bucketwise.hpp"

namespace trigram {
namespace {

/// What a rank has not sent of a bucket, of its part in the group.
struct Residual {
  OwnedBuffer error = {};
  Shape shape = {};
  Extent extent = {};
  bool is_paid = false;
};

class SparseLoCo final : public WeightMethod {
 public:
  explicit SparseLoCo(Params& params)
      : every_(read_every(params, 10)),
        codec_(params.get("codec", "top_k:fraction=0.03", "how far ranks went, encoded")),
        model_(make_codec_model(codec_)),
        kept_(
            static_cast<float>(params.get("error_decay", 0.95, "β, share of what was not sent that is kept", {0, 1}))),
        outer_lr_(static_cast<float>(params.get("outer_lr", 1.0, "α, share of the mean that is gone", {0, 1e30}))) {}

  Trigram trigram() const override {
    return {Trigram::Synchrony::synchronous, Trigram::Precision::low, Trigram::Centrality::centralized};
  }
  /// What fades in the residuals is lost to the mean.
  Invariants invariants(const CostQuery&) const override {
    Invariants held{.replicas = Invariants::Replicas::equal_after_exchanges};
    if (kept_ == 1) held.settles = outer_lr_;
    return held;
  }
  std::vector<std::string> trials() const override { return {"", "every=2,codec=one_bit,error_decay=1,outer_lr=0.5"}; }
  Cost cost(const CostQuery& query) const override {
    if (!communicates(query.step)) return {};
    return sum_over_buckets(query, [&](const Shape& bucket) {
      return centralized_low_precision_cost(query, bucket, *model_, FrameExchange::all_gather);
    });
  }
  void check(const CostQuery& query) const override {
    require_stable_scatter_reduce(query, *model_, codec_, FrameExchange::all_gather);
  }

  void setup(Worker& worker, std::span<Bucket> buckets) override {
    codec_on_device_ = worker.device.make_codec(codec_);
    for (const Bucket& bucket : buckets) {
      worker.device.copy(bucket.weights, begin_.emplace_back(worker.device.allocate(bucket.weights.shape())));
      const PrimitiveGroup group = primitive_group(worker, bucket.gradients);
      Residual& residual = residuals_.emplace_back();
      if (group.comm == nullptr) continue;
      residual.shape = group.part.shape();
      residual.extent = extent_in(bucket.gradients, group.part);
      if (group.comm->size() > 1) residual.error = worker.device.allocate(residual.shape);
    }
  }
  void global_weights(Worker& worker, Bucket& bucket) override {
    worker.device.copy(begin_[static_cast<std::size_t>(bucket.index)], bucket.weights);
  }
  void list_state(State& state) override {
    state.buffers("begin", begin_);
    for (Residual& own : residuals_) state.room("error", own.error, own.shape, Fate::averaged, own.extent);
  }

 private:
  bool communicates(std::int64_t step) const override { return (step + 1) % every_ == 0; }

  void exchange(Worker& lane, Bucket& bucket) override {
    const Buffer begin = begin_[static_cast<std::size_t>(bucket.index)];
    const Buffer outer_gradient = bucket.gradients;  // free by now
    lane.device.weighted_sum(std::array{begin, bucket.weights}, std::array{1.0F, -1.0F}, outer_gradient);
    hierarchical(lane, outer_gradient, NodeValue::weighted_mean, [&](Communicator& group, Buffer part) {
      Residual& residual = residuals_[static_cast<std::size_t>(bucket.index)];
      if (group.size() == 1) return pay(lane, residual, part);
      average(lane, group, bucket.index, residual.error, part);
    });
    lane.device.axpby(-outer_lr_, outer_gradient, 1.0F, begin);
    lane.device.copy(begin, bucket.weights);
  }

  /// A rank alone encodes nothing; others who have left may not have sent all.
  void pay(Worker& lane, Residual& residual, Buffer outer_gradient) const {
    if (residual.error.view().empty() || std::exchange(residual.is_paid, true)) return;
    lane.device.axpby(kept_, residual.error, 1.0F, outer_gradient);
    lane.device.fill(residual.error, 0);
  }

  void average(Worker& lane, Communicator& group, int bucket, Buffer error, Buffer outer_gradient) {
    const Key key = vector_key(lane, group, bucket);
    lane.device.axpby(kept_, error, 1.0F, outer_gradient);
    compressed_all_gather(lane, group, outer_gradient, *codec_on_device_, key, error);
  }

  std::int64_t every_;
  std::string codec_;
  std::unique_ptr<const Codec> model_;
  float kept_, outer_lr_;
  std::shared_ptr<const Codec> codec_on_device_;
  std::vector<OwnedBuffer> begin_;
  std::vector<Residual> residuals_;
};

const Algorithms::Registration registration(
    "sparse_loco",
    {"train alone, send the largest parts of how far one went every few steps",
     "Sarfi et al., Communication efficient LLM pre-training with SparseLoCo, 2025, arXiv:2508.15706",
     "Islands far apart with little between them: a few hundredths of what ranks learned travels.",
     "Many islands, whose frames all go to all."},
    [](Params& params) { return std::make_unique<SparseLoCo>(params); });

}  // namespace
}  // namespace trigram
