#include "core/worker.hpp"

#include <algorithm>

#include "core/error.hpp"

namespace trigram {

/// Lane i of L bucket lanes carries the buckets b with b mod L = i - 1.
std::string lane_name(int index, int bucket_lanes) {
  if (index == 0) return "main lane";
  if (index > bucket_lanes) return "background lane";
  const int first = index - 1;
  return "lane " + std::to_string(index) + " (buckets " + std::to_string(first) + ", " +
         std::to_string(first + bucket_lanes) + ", ...)";
}

Worker::Worker(RankRuntime& runtime, int lane_index, const Relaxation& how)
    : comm(*runtime.lane(lane_index).comm),
      node(*runtime.lane(lane_index).node),
      leaders(*runtime.lane(lane_index).leaders),
      device(*runtime.lane(lane_index).device),
      timeline(runtime.lane(lane_index).timeline),
      relaxation(how),
      lane(lane_index),
      runtime_(runtime) {}

int Worker::bucket_lane(int index) const {
  const int bucket_lanes = std::max(1, runtime_.lanes() - 2);
  return 1 + index % bucket_lanes;
}

std::int64_t Worker::agree(std::int64_t value, ReduceOp op) {
  ensure(lane == 0, "agree was called in a lane's body; it is for setup and finish, on the main lane");
  ensure(!in_step_, "agree was called in step ", step,
         "; it is for setup and finish, since ranks may be at different steps between them");
  return runtime_.agree(value, op);
}

Pending Worker::start(int lane_index, const Body& body) {
  ensure(lane == 0, "a lane's body cannot start another lane");
  Worker frozen(runtime_, lane_index, relaxation);
  frozen.step = step;
  frozen.learning_rate = learning_rate;
  if (relaxation.overlap) {
    return runtime_.launch(lane_index, [frozen, body]() mutable { body(frozen); });
  }
  runtime_.run_in_place(lane_index, [&] { body(frozen); });
  return Pending();
}

}  // namespace trigram
