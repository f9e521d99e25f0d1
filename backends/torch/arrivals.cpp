#include "backends/torch/arrivals.hpp"

#include <chrono>
#include <string>

#include "core/error.hpp"
#include "processes/clock.hpp"

namespace trigram::torch {

void Arrivals::put(const Arrival& arrival) {
  const std::lock_guard lock(mutex_);
  arrived_.push_back(arrival);
  last_ = seconds_now();
  changed_.notify_all();
}

void Arrivals::left(int asker) {
  const std::lock_guard lock(mutex_);
  askers_.erase(asker);
  last_ = seconds_now();
  changed_.notify_all();
}

void Arrivals::fail(std::exception_ptr error) {
  const std::lock_guard lock(mutex_);
  if (failed_ == nullptr) failed_ = std::move(error);
  changed_.notify_all();
}

void Arrivals::end_within(double seconds) {
  const std::lock_guard lock(mutex_);
  patience_ = seconds;
  last_ = seconds_now();
  changed_.notify_all();
}

std::optional<Arrivals::Arrival> Arrivals::take(const std::string& operation) {
  std::unique_lock lock(mutex_);
  while (arrived_.empty() && !askers_.empty() && failed_ == nullptr) wait(lock, operation);
  if (failed_ != nullptr) std::rethrow_exception(failed_);
  if (arrived_.empty()) return std::nullopt;
  const Arrival first = arrived_.front();
  arrived_.pop_front();
  return first;
}

void Arrivals::wait(std::unique_lock<std::mutex>& lock, const std::string& operation) {
  if (patience_ <= 0) return changed_.wait(lock);
  const double left = last_ + patience_ - seconds_now();
  if (left > 0) {
    changed_.wait_for(lock, std::chrono::duration<double>(left));
    return;
  }
  throw BackendError(operation + " has waited " + number_text(patience_) + " s for rank " +
                     std::to_string(*askers_.begin()) + ", which may still ask");
}

}  // namespace trigram::torch
