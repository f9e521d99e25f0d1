#include "core/primitives/background.hpp"

#include <array>
#include <utility>

#include "core/step/bucketwise.hpp"

namespace trigram {

void BackgroundAverage::setup(Worker& worker, std::span<Bucket> buckets, const std::optional<LowPrecision>& low) {
  buckets_ = buckets;
  stop_.setup(worker);
  const std::shared_ptr<const Codec> codec = low ? worker.device.make_codec(low->codec) : nullptr;
  for (const Bucket& bucket : buckets) {
    snapshots_.push_back(worker.device.allocate(bucket.weights.shape()));
    means_.push_back(worker.device.allocate(bucket.weights.shape()));
    if (!low) continue;
    worker.device.copy(bucket.weights, known_.emplace_back(worker.device.allocate(bucket.weights.shape())));
    differences_.emplace_back(worker, bucket, codec, low->error_feedback);
  }
}

void BackgroundAverage::start(Worker& worker, bool stop) {
  if (given_up_) return;
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    worker.device.copy(buckets_[i].weights, snapshots_[i]);
    if (known_.empty()) {
      worker.device.copy(buckets_[i].weights, means_[i]);
    } else {
      worker.device.weighted_sum(std::array{buckets_[i].weights, known_[i].view()}, std::array{1.0F, -1.0F}, means_[i]);
    }
  }
  stop_.start(worker, stop ? 1 : 0);
  averaging_ = worker.start(worker.background_lane(), [this, number = averagings_++](Worker& lane) {
    // Ranks are at different steps: keys go by averagings. And what travels are weights, which no rate will multiply.
    lane.step = number;
    lane.learning_rate = 1;
    came_about_ = lane.comm.with_all_there([&] { average(lane); });
  });
  running_ = true;
}

void BackgroundAverage::average(Worker& lane) {
  for (std::size_t i = 0; i < means_.size(); ++i) {
    if (differences_.empty()) {
      centralized_full_precision(lane, means_[i]);
    } else {
      differences_[i].average(lane, means_[i]);
    }
  }
}

void BackgroundAverage::merge(Worker& worker) {
  if (!std::exchange(running_, false)) return;
  stop_.wait();
  averaging_.wait();
  given_up_ = !stop_.all_there() || !came_about_;
  if (given_up_) return;
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    if (!known_.empty()) worker.device.axpby(1.0F, means_[i], 1.0F, known_[i]);
    worker.device.axpby(-1.0F, snapshots_[i], 1.0F, buckets_[i].weights);
    worker.device.axpby(1.0F, known_.empty() ? means_[i] : known_[i], 1.0F, buckets_[i].weights);
  }
}

/// In each step a rank starts one at most, and one when it stops after all others have.
void BackgroundAverage::count_on_from(std::int64_t steps) { averagings_ = 2 * steps; }

void BackgroundAverage::list_state(State& state) {
  state.value("averagings", averagings_).buffers("known", known_, Fate::averaged).of_each("difference", differences_);
}

Cost background_average_cost(const CostQuery& query) {
  return agreement_cost(query) +
         sum_over_buckets(query, [&](const Shape& bucket) { return centralized_full_precision_cost(query, bucket); });
}

Cost background_average_cost(const CostQuery& query, const Codec& codec) {
  return agreement_cost(query) + sum_over_buckets(query, [&](const Shape& bucket) {
           return centralized_low_precision_cost(query, bucket, codec);
         });
}

}  // namespace trigram
