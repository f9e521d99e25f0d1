#include "core/primitives/compressed_momentum.hpp"

#include "core/primitives/gradient_mean.hpp"

namespace trigram {

CompressedMomentum::CompressedMomentum(Params& params)
    : warmup_(params.get("warmup", std::int64_t{100}, "first steps, on averaged gradients", {1, 1'000'000'000})),
      codec_(params.get("codec", "one_bit", "how first moments are encoded")),
      model_(make_codec_model(codec_)),
      error_feedback_(params.get("error_feedback", true, "keep worker and server residuals")),
      exchange_(read_frame_exchange(params)) {}

Cost CompressedMomentum::cost(const CostQuery& query) const {
  return sum_over_buckets(query, [&](const Shape& bucket) {
    return warms_up(query.step) ? gradient_mean_cost(query, bucket)
                                : centralized_low_precision_cost(query, bucket, *model_, exchange_);
  });
}

void CompressedMomentum::check(const CostQuery& query) const {
  if (error_feedback_) require_stable_scatter_reduce(query, *model_, codec_, exchange_);
}

void CompressedMomentum::setup_averages(Worker& worker, std::span<const Bucket> buckets) {
  const std::shared_ptr<const Codec> codec = worker.device.make_codec(codec_);
  for (const Bucket& bucket : buckets) averages_.emplace_back(worker, bucket, codec, error_feedback_, exchange_);
}

void CompressedMomentum::exchange(Worker& lane, Bucket& bucket) {
  if (warms_up(lane.step)) return gradient_mean(lane, bucket.gradients);
  averages_[static_cast<std::size_t>(bucket.index)].average(lane, accumulate(lane, bucket));
}

}  // namespace trigram
