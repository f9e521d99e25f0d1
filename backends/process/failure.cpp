#include "backends/process/failure.hpp"

#include "core/values/error.hpp"

namespace trigram {

void Failure::report(std::exception_ptr error) {
  const std::lock_guard lock(mutex_);
  if (first_ == nullptr) first_ = std::move(error);
  raised_ = true;
}

void Failure::deliver() {
  const std::lock_guard lock(mutex_);
  first_ = nullptr;
  raised_ = released_.load();
}

void Failure::release() {
  const std::lock_guard lock(mutex_);
  raised_ = released_ = true;
}

void Failure::rethrow() {
  const std::lock_guard lock(mutex_);
  if (first_ != nullptr) std::rethrow_exception(first_);
  throw BackendError("a lane gave up waiting because the main lane of this rank has failed");
}

}  // namespace trigram
