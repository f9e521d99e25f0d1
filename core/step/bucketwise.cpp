#include "core/step/bucketwise.hpp"

#include "core/values/error.hpp"
#include "core/values/quoted.hpp"

namespace trigram {

void PendingBuckets::start(Worker& worker, const Bucket& bucket, const Worker::Task& task) {
  const auto index = static_cast<std::size_t>(bucket.index);
  if (pending_.size() <= index) pending_.resize(index + 1);
  pending_[index] = worker.start(worker.bucket_lane(bucket.index), [number = bucket.index, task](Worker& lane) {
    const Timeline::ForBucket of_this_one(lane.timeline, number);
    task(lane);
  });
}

void PendingBuckets::wait() {
  for (Pending& pending : pending_) pending.wait();
}

void GradientMethod::gradients_ready(Worker& worker, Bucket& bucket) {
  pending_.start(worker, bucket, [this, &bucket](Worker& lane) { exchange(lane, bucket); });
}

void GradientMethod::before_update(Worker&) { pending_.wait(); }

void WeightMethod::after_update(Worker& worker, Bucket& bucket) {
  if (!communicates(worker.step)) return;
  pending_.start(worker, bucket, [this, &bucket](Worker& lane) { exchange(lane, bucket); });
}

void WeightMethod::after_step(Worker&) { pending_.wait(); }

std::int64_t read_every(Params& params, std::int64_t fallback) {
  const std::int64_t every = params.get("every", fallback, "steps between exchanges");
  require(every >= 1, params.owner() + ": every=" + std::to_string(every) + " is not a positive number of steps");
  return every;
}

std::string read_mix(Params& params, const char* fallback) {
  std::string mix = params.get("mix", fallback, "mix weights before or after the update");
  require(mix == "before" || mix == "after", params.owner() + ": mix=" + shown(mix) + " is not before or after");
  return mix;
}

}  // namespace trigram
