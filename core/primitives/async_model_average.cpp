#include "core/primitives/async_model_average.hpp"

#include "core/values/error.hpp"

namespace trigram {

AsyncModelAverage::AsyncModelAverage(Params& params)
    : every_(read_every(params, 1)),
      warmup_(params.get("warmup", std::int64_t{0}, "first steps, which average gradients instead")) {
  require(warmup_ >= 0, params.owner() + ": warmup=" + std::to_string(warmup_) + " is negative");
}

Cost AsyncModelAverage::cost(const CostQuery& query) const {
  if (query.step >= warmup_) return averaging_cost(query);
  return sum_over_buckets(query, [&](const Shape& bucket) { return centralized_full_precision_cost(query, bucket); });
}

void AsyncModelAverage::gradients_ready(Worker& worker, Bucket& bucket) {
  if (worker.step >= warmup_) return;
  warmup_pending_.start(worker, bucket,
                        [&bucket](Worker& lane) { centralized_full_precision(lane, bucket.gradients); });
}

void AsyncModelAverage::after_step(Worker& worker) {
  if (average_.running() && average_.done()) {
    average_.merge(worker);
    if (!average_.given_up()) shared_ = snapshot_;
  }
  if (worker.step < warmup_) shared_ = worker.step;
  worker.record("staleness", static_cast<double>(worker.step - shared_));
  const bool due = worker.step >= warmup_ && (worker.step + 1) % every_ == 0;
  if (due && !average_.running() && !average_.given_up()) {
    average_.start(worker, false);
    snapshot_ = worker.step;
  }
}

void AsyncModelAverage::quiesce(Worker& worker) {
  average_.merge(worker);
  do {
    average_.start(worker, true);
    average_.merge(worker);
  } while (!average_.everyone_stopped(worker));
  average_.count_on_from(worker.step + 1);
  snapshot_ = worker.step;
  if (!average_.given_up()) shared_ = snapshot_;
}

void AsyncModelAverage::list_state(State& state) {
  state.value("shared", shared_, Fate::own).value("snapshot", snapshot_).of("average", average_);
}

}  // namespace trigram
