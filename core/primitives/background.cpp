#include "core/primitives/background.hpp"

#include "core/all_reduce.hpp"
#include "core/bucketwise.hpp"
#include "core/primitives/centralized.hpp"

namespace trigram {

void BackgroundAverage::setup(Worker& worker, std::span<Bucket> buckets) {
  buckets_ = buckets;
  stop_ = worker.device.allocate(Shape::of(1, DType::i32));
  for (const Bucket& bucket : buckets) {
    snapshots_.push_back(worker.device.allocate(bucket.weights.shape()));
    means_.push_back(worker.device.allocate(bucket.weights.shape()));
  }
}

void BackgroundAverage::start(Worker& worker, bool stop) {
  worker.device.fill(stop_, stop ? 1 : 0);
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    worker.device.copy(buckets_[i].weights, snapshots_[i]);
    worker.device.copy(buckets_[i].weights, means_[i]);
  }
  averaging_ = worker.start(worker.background_lane(), [this](Worker& lane) {
    lane.comm.all_reduce(stop_, ReduceOp::min);
    for (const OwnedBuffer& mean : means_) centralized_full_precision(lane, mean);
  });
  running_ = true;
}

void BackgroundAverage::merge(Worker& worker) {
  averaging_.wait();
  running_ = false;
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    worker.device.axpby(-1.0F, snapshots_[i], 1.0F, buckets_[i].weights);
    worker.device.axpby(1.0F, means_[i], 1.0F, buckets_[i].weights);
  }
}

bool BackgroundAverage::everyone_stopped(Worker& worker) const {
  std::int32_t flag = 0;
  worker.device.download(stop_, std::as_writable_bytes(std::span(&flag, 1)));
  return flag == 1;
}

Cost background_average_cost(const CostQuery& query) {
  const Cost weights =
      sum_over_buckets(query, [&](const Shape& bucket) { return centralized_full_precision_cost(query, bucket); });
  const Placement& place = query.place;
  return weights + all_reduce_named(query.all_reduce).cost(place.ranks, place.rank, 1, size_of(DType::i32));
}

}  // namespace trigram
