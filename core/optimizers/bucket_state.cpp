#include "core/optimizers/bucket_state.hpp"

#include <algorithm>

#include "core/values/error.hpp"

namespace trigram {

void BucketState::allocate(Worker& worker, std::span<const Bucket> buckets) {
  buffers_.resize(entries_for(buckets));
  for (const Bucket& bucket : buckets)
    buffers_[static_cast<std::size_t>(bucket.index)] = worker.device.allocate(bucket.weights.shape());
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
