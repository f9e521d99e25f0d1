#include "core/optimizers/bucket_state.hpp"

#include <algorithm>

#include "core/values/error.hpp"

namespace trigram {

void BucketState::allocate(Worker& worker, std::span<const Bucket> buckets) {
  buffers_.resize(entries_for(buckets));
  extents_.resize(buffers_.size());
  for (const Bucket& bucket : buckets) {
    const auto index = static_cast<std::size_t>(bucket.index);
    buffers_[index] = worker.device.allocate(bucket.weights.shape());
    extents_[index] = bucket.extent;
  }
}

void BucketState::list_state(State& state, const std::string& name) const {
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    const Fate fate = extents_[i].whole > 0 ? Fate::cut : Fate::own;
    state.buffer(name + " " + std::to_string(i), buffers_[i], fate, extents_[i]);
  }
}

Buffer BucketState::operator[](int bucket) const {
  const auto index = static_cast<std::size_t>(bucket);
  ensure(index < buffers_.size(), "an optimizer keeps no state for bucket ", bucket, "; it was set up without it");
  return buffers_[index];
}

std::size_t entries_for(std::span<const Bucket> buckets) {
  int last = -1;
  for (const Bucket& bucket : buckets) last = std::max(last, bucket.index);
  return static_cast<std::size_t>(last + 1);
}

void throw_no_state(const std::string& name) { throw Error("this optimizer keeps no state '" + name + "'"); }

}  // namespace trigram
