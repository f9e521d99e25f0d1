#include "backends/threads/ending.hpp"

#include "core/training/carried_error.hpp"
#include "core/values/error.hpp"

namespace trigram::threads {

void Ending::fail(int rank, const std::exception_ptr& error) {
  const std::lock_guard lock(mutex_);
  if (over_) return;
  failed_ = rank;
  reason_ = CarriedError::of(error).text();
  over_ = true;
}

void Ending::throw_on(int rank) const {
  const std::lock_guard lock(mutex_);
  throw BackendError("rank " + std::to_string(rank) + " ends since rank " + std::to_string(failed_) +
                     " failed: " + reason_);
}

}  // namespace trigram::threads
