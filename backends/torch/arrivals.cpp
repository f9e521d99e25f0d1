#include "backends/torch/arrivals.hpp"

#include <chrono>

#include "core/values/error.hpp"

namespace trigram::torch {

void Arrivals::put(const Arrival& arrival) {
  const std::lock_guard lock(mutex_);
  arrived_.push_back(arrival);
  changed_.notify_all();
}

void Arrivals::fail(std::exception_ptr error) {
  const std::lock_guard lock(mutex_);
  if (failed_ == nullptr) failed_ = std::move(error);
  changed_.notify_all();
}

Arrivals::Arrival Arrivals::take(double seconds, const std::string& operation, const std::string& what) {
  std::unique_lock lock(mutex_);
  const auto something = [this] { return !arrived_.empty() || failed_ != nullptr; };
  if (seconds <= 0) {
    changed_.wait(lock, something);
  } else if (!changed_.wait_for(lock, std::chrono::duration<double>(seconds), something)) {
    throw BackendError(operation + " has waited " + number_text(seconds) + " s for " + what);
  }
  if (failed_ != nullptr) std::rethrow_exception(failed_);
  const Arrival first = arrived_.front();
  arrived_.pop_front();
  return first;
}

}  // namespace trigram::torch
