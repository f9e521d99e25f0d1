#include "net/comm.hpp"

#include <algorithm>

#include "net/log.hpp"

namespace trigram::net {

Comm::Comm() {
  for (auto& request : requests_) request.comm = this;
}

Request* Comm::take_request(int count) {
  const auto free = std::find_if(requests_.begin(), requests_.end(), [](const Request& one) { return !one.used; });
  if (free == requests_.end()) return nullptr;
  free->used = true;
  free->pending = free->count = count;
  free->sizes.fill(0);
  return &*free;
}

void Comm::test(Request& request, int* done, int* sizes) {
  const std::lock_guard lock(mutex_);
  if (!request.used) throw Error(abi::Result::invalid_usage, "test is called for a request that is over");
  if (!request.done() && !failed()) progress(Clock::now());
  *done = request.done();
  if (!request.done()) {
    throw_if_failed();
    return;
  }
  if (sizes) std::copy_n(request.sizes.begin(), request.count, sizes);
  request.used = false;
}

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

}  // namespace trigram::net
