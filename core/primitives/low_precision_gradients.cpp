#include "core/primitives/low_precision_gradients.hpp"

#include "core/compression/encoding_error.hpp"

namespace trigram {
namespace {

constexpr const char* error_feedback = "error_feedback";

bool read_error_feedback(Params& params) {
  return params.get(error_feedback, false, "keep worker and server residuals");
}

/// What was given of the codec's parameters, as a spec of it.
std::string spec_of(const std::string& codec, const Params& params) {
  std::string spec = codec;
  for (const auto& [key, value] : params.values()) {
    if (key == error_feedback || key == frame_exchange_key) continue;
    spec += (spec == codec ? ":" : ",") + parameter_text(key, value);
  }
  return spec;
}

}  // namespace

LowPrecisionGradients::LowPrecisionGradients(Params& params, std::string codec)
    : error_feedback_(read_error_feedback(params)),
      exchange_(read_frame_exchange(params)),
      codec_(std::move(codec)),
      model_(make_codec_model(codec_)) {}

LowPrecisionGradients::LowPrecisionGradients(Params& params, const CodecOfName& codec)
    : error_feedback_(read_error_feedback(params)),
      exchange_(read_frame_exchange(params)),
      codec_(spec_of(codec.name, params)),
      model_(make_codec_model(codec.name, params)) {}

Cost LowPrecisionGradients::cost(const CostQuery& query) const {
  return sum_over_buckets(
      query, [&](const Shape& bucket) { return centralized_low_precision_cost(query, bucket, *model_, exchange_); });
}

void LowPrecisionGradients::check(const CostQuery& query) const {
  if (error_feedback_) require_stable_scatter_reduce(query, *model_, codec_, exchange_);
}

// Two encodings a step, one of gradients and one of their mean; or the first alone.
Invariants LowPrecisionGradients::invariants(const CostQuery& query) const {
  Invariants held = Algorithm::invariants(query);
  held.mean_error = (exchange_ == FrameExchange::all_gather ? 1 : 2) * encoding_error(query.buckets, *model_);
  if (error_feedback_) held.settles = 1;
  return held;
}

void LowPrecisionGradients::setup(Worker& worker, std::span<Bucket> buckets) {
  const std::shared_ptr<const Codec> codec = worker.device.make_codec(codec_);
  for (const Bucket& bucket : buckets) averages_.emplace_back(worker, bucket, codec, error_feedback_, exchange_);
}

void LowPrecisionGradients::exchange(Worker& lane, Bucket& bucket) {
  averages_[static_cast<std::size_t>(bucket.index)].average(lane, bucket.gradients);
}

}  // namespace trigram
