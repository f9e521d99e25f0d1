// Error feedback that can be made wrong: what ranks owe must be averaged where ranks change, and be added.
#pragma once

#include <memory>
#include <vector>

#include "core/compression/compressed_all_gather.hpp"
#include "core/compression/encoding_key.hpp"
#include "core/device/codec.hpp"
#include "core/step/bucketwise.hpp"

namespace trigram {

/// A mean of frames whose residuals have this fate, and are added with this sign.
template <Fate fate, int sign = 1>
class FeedsErrorsBack final : public GradientMethod {
 public:
  Trigram trigram() const override {
    return {Trigram::Synchrony::synchronous, Trigram::Precision::low, Trigram::Centrality::centralized};
  }
  Refusal refuses(Option option) const override { return option == Option::overlap ? "" : "it has one level"; }
  Invariants invariants(const CostQuery&) const override {
    return {.replicas = Invariants::Replicas::equal_after_exchanges, .settles = 1};
  }
  Cost cost(const CostQuery& query) const override {
    const auto codec = make_codec_model("one_bit");
    return sum_over_buckets(query, [&](const Shape& bucket) {
      return compressed_all_gather_cost(query.place.ranks, bucket.modelled_count, *codec);
    });
  }
  void setup(Worker& worker, std::span<Bucket> buckets) override {
    for (const Bucket& bucket : buckets) errors_.push_back(worker.device.allocate(bucket.gradients.shape()));
  }
  void list_state(State& state) override { state.buffers("error", errors_, fate); }

 private:
  void exchange(Worker& lane, Bucket& bucket) override {
    if (lane.world_size() == 1) return;
    const Buffer error = errors_[static_cast<std::size_t>(bucket.index)];
    const auto codec = lane.device.make_codec("one_bit");
    lane.device.axpby(static_cast<float>(sign), error, 1.0F, bucket.gradients);
    compressed_all_gather(lane, lane.comm, bucket.gradients, *codec, vector_key(lane, lane.comm, bucket.index), error);
  }
  std::vector<OwnedBuffer> errors_;
};

}  // namespace trigram
