#include "backends/gpu/host/way_out.hpp"

#include "core/values/error.hpp"

namespace trigram::gpu {

void WayOut::ask(const std::string& reason) {
  const std::lock_guard lock(mutex_);
  if (asked_.empty()) asked_ = reason;
}

std::string WayOut::asked() const {
  const std::lock_guard lock(mutex_);
  return asked_;
}

void WayOut::open(const std::string& reason) {
  const std::lock_guard lock(mutex_);
  if (!open_) why_ = reason;
  open_ = true;
}

void WayOut::require_shut() const {
  if (!open_) return;
  const std::lock_guard lock(mutex_);
  throw BackendError(why_);
}

}  // namespace trigram::gpu
