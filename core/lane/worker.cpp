#include "core/lane/worker.hpp"

#include <algorithm>

#include "core/values/error.hpp"
#include "core/values/quoted.hpp"

namespace trigram {

Requests& RankRuntime::requests() { throw Error("ranks of this backend have no RPC (core/lane/service.hpp)"); }

double RankRuntime::max_seconds(double seconds) {
  constexpr double nanosecond = 1e-9;
  return static_cast<double>(agree(static_cast<std::int64_t>(seconds / nanosecond), ReduceOp::max)) * nanosecond;
}

/// Tasks of one lane run in order, so an empty one ends last.
void RankRuntime::stop_lanes() {
  for (int lane = 1; lane < lanes(); ++lane) {
    try {
      launch(lane, [] {}).wait();
    } catch (const std::exception&) {
      continue;  // a failed lane has stopped
    }
  }
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

Communicator& Worker::group(std::string_view axis) {
  if (axis == Mesh::data) return comm;
  const auto& others = runtime_.lane(lane).other_axes;
  const auto found = others.find(axis);
  ensure(
      found != others.end(), "mesh ", [&] { return mesh().text(); }, " has no axis ", Quoted(axis),
      "; name it in --mesh");
  return *found->second;
}

void Worker::say_where(std::int64_t at_step) const {
  timeline.be_at({runtime_.rank(), lane, runtime_.layout(), at_step});
}

std::int64_t Worker::agree(std::int64_t value, ReduceOp op) {
  ensure(lane == 0, "agree() was called inside a lane task; call it in setup or finish, on the main lane");
  ensure(!in_step_, "agree() was called in step ", step,
         "; call it in setup or finish only: between them ranks may be at different steps");
  return runtime_.agree(value, op);
}

void Worker::record(std::string_view column, double value) {
  ensure(lane == 0, "record(", Quoted(column), ") was called inside a lane task; call it on the main lane");
  const auto fits = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; };
  ensure(!column.empty() && std::all_of(column.begin(), column.end(), fits), "a column cannot be named ",
         Quoted(column), "; names are of lower-case letters, digits and _");
  records_.insert_or_assign(std::string(column), value);
}

void Worker::resume_at(double seconds) {
  runtime_.resume_at(seconds);
  earlier_ = std::max(0.0, seconds - runtime_.now());
}

Pending Worker::start(int lane_index, const Task& task) {
  ensure(lane == 0, "start() was called inside a lane task; only the main lane starts tasks");
  const std::function<void()> run = frozen_on(lane_index, task);
  if (relaxation.overlap) return runtime_.launch(lane_index, run);
  runtime_.run_in_place(lane_index, run);
  return Pending();
}

Pending Worker::start_on_network_lane(const Task& task) {
  const int network_lane = runtime_.layout().network_lane_of(lane);
  return runtime_.launch(network_lane, frozen_on(network_lane, task));
}

std::function<void()> Worker::frozen_on(int lane_index, const Task& task) const {
  Worker frozen(runtime_, lane_index, relaxation);
  frozen.step = step;
  frozen.steps = steps;
  frozen.learning_rate = learning_rate;
  return [frozen, task]() mutable {
    frozen.say_where(frozen.step);
    task(frozen);
  };
}

}  // namespace trigram
