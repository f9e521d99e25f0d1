#include "net/comm.hpp"

#include <algorithm>

#include "net/log.hpp"

namespace trigram::net {

Comm::Comm() {
  for (auto& request : requests_) request.comm = this;
}

Comm::Entry::Entry(Comm& comm) : lock_(comm.mutex_, std::defer_lock) {
  ++comm.callers_;
  lock_.lock();
  --comm.callers_;
}

Request* Comm::take_request(int count, bool large) {
  const auto free = std::find_if(requests_.begin(), requests_.end(), [](const Request& one) { return !one.used; });
  if (free == requests_.end()) return nullptr;
  free->used = true;
  free->pending = free->count = count;
  free->large = large;
  free->sizes.fill(0);
  return &*free;
}

void Comm::test(Request& request, int* done, int* sizes) {
  if (!request.used) throw Error(abi::Result::invalid_usage, "test is called for a request that is over");
  if (!request.done()) look(request);
  *done = request.done();
  if (!*done) return;
  if (sizes) std::copy_n(request.sizes.begin(), request.count, sizes);
  request.used = false;
}

/// Whoever is in moves all that there is: nobody waits for that.
void Comm::look(const Request& request) {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) return;
  if (!failed()) progress(Clock::now());
  if (!request.done()) throw_if_failed();
}

Work Comm::move() {
  if (callers_ > 0) return Work::waits;
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) return Work::waits;
  if (failed() || !any_large_in_flight()) return Work::nothing;
  return progress(Clock::now()) ? Work::moved : Work::waits;
}

bool Comm::mover_sees_to_it() { return mover_ && mover_->wake(); }

void Comm::fail(abi::Result code, const std::string& text) {
  if (failed()) return;
  failure_.emplace(code, text, true);
  warn(text);
}

void Comm::throw_if_failed() const {
  if (failure_) throw *failure_;
}

bool Comm::requests_in_flight() const {
  return std::any_of(requests_.begin(), requests_.end(), [](const Request& one) { return one.used && !one.done(); });
}

bool Comm::any_large_in_flight() const {
  return std::any_of(requests_.begin(), requests_.end(),
                     [](const Request& one) { return one.used && one.large && !one.done(); });
}

}  // namespace trigram::net
