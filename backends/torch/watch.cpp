#include "backends/torch/watch.hpp"

#include <chrono>

#include "core/values/error.hpp"
#include "processes/clock.hpp"

namespace trigram::torch {
namespace {

constexpr std::chrono::milliseconds watch_round{50};
/// Seconds that a wait may last after another lane of this rank has failed: peers may still complete it.
constexpr double watch_grace = 1;

}  // namespace

FailureWatch::FailureWatch(const PointToPoint& point_to_point, Rendezvous& rendezvous, Failure& failure)
    : point_to_point_(point_to_point), rendezvous_(rendezvous), failure_(failure), thread_([this] { watch(); }) {}

FailureWatch::~FailureWatch() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void FailureWatch::watch() {
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, watch_round, [this] { return stopped_; })) {
    if (over()) return point_to_point_.end_all();
  }
}

bool FailureWatch::over() {
  if (const std::string why = point_to_point_.in_vain(); !why.empty()) {
    failure_.report(std::make_exception_ptr(BackendError(why)));
    return true;
  }
  if (!failure_.raised()) {
    raised_since_ = 0;
  } else if (raised_since_ == 0) {
    raised_since_ = seconds_now();
  }
  const bool for_long = raised_since_ > 0 && seconds_now() - raised_since_ > watch_grace;
  if (failure_.leaving() || for_long) return true;
  // Where ranks that are gone are left out, others' messages end only with those that wait for one that is silent.
  return rendezvous_.failure().has_value() && (!point_to_point_.leaves_out() || point_to_point_.waits_for_long());
}

}  // namespace trigram::torch
