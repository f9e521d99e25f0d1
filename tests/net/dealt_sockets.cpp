#include "tests/net/dealt_sockets.hpp"

#include <sys/uio.h>

#include <algorithm>

namespace trigram::tests {

using net::Moved;

DealtSockets::DealtSockets(bool sends, const Dealing& dealing, net::Socket control, std::vector<net::Socket> sockets)
    : sends_(sends), dealing_(dealing), control_(std::move(control)) {
  for (auto& socket : sockets) {
    lanes_.push_back(std::make_unique<Lane>());
    lanes_.back()->socket = std::move(socket);
  }
  for (int i = 0; i < dealing.threads; ++i) threads_.emplace_back([this, i] { work(i); });
}

DealtSockets::~DealtSockets() {
  stopping_ = true;
  woken_.notify_all();
  for (auto& thread : threads_) thread.join();
}

DealtRequest* DealtSockets::post(void* data, std::size_t size) {
  const auto free = std::find_if(std::begin(requests_), std::end(requests_), [](const auto& one) { return !one.used; });
  if (free == std::end(requests_)) return nullptr;
  free->data = static_cast<std::byte*>(data);
  free->size = free->capacity = size;
  free->used = true;
  free->known = false;
  free->failed = false;
  free->left = 1;  // the size
  without_size_.push_back(&*free);
  move_sizes();
  return &*free;
}

/// Eight bytes a message, in order, before its parts.
void DealtSockets::move_sizes() {
  while (!without_size_.empty()) {
    auto& request = *without_size_.front();
    auto* bytes = reinterpret_cast<std::byte*>(sends_ ? &request.size : &heard_);
    iovec part{bytes + size_moved_, sizeof heard_ - size_moved_};
    const Moved moved = sends_ ? control_.send({&part, 1}, size_moved_) : control_.receive({&part, 1}, size_moved_);
    if (moved != Moved::some && moved != Moved::nothing_yet) request.failed = true;
    if (size_moved_ < sizeof heard_) return;
    size_moved_ = 0;
    if (!sends_) request.size = heard_;
    without_size_.pop_front();
    deal(request);
  }
}

void DealtSockets::deal(DealtRequest& request) {
  const std::uint64_t equal = (request.size + lanes_.size() - 1) / lanes_.size();
  const std::uint64_t each = std::max<std::uint64_t>(equal, dealing_.least);
  std::vector<std::pair<Lane*, Part>> parts;
  for (std::uint64_t offset = 0; offset < request.size; offset += each) {
    const auto length = static_cast<std::size_t>(std::min(each, request.size - offset));
    parts.push_back({lanes_[next_++ % lanes_.size()].get(), {&request, request.data + offset, length}});
  }
  request.left += static_cast<int>(parts.size()) - 1;
  for (auto& [lane, part] : parts) {
    const std::lock_guard lock(lane->mutex);
    lane->parts.push_back(part);
  }
  if (threads_.empty() || parts.empty()) return;
  parts_ += static_cast<int>(parts.size());
  const std::lock_guard lock(sleeping_);
  woken_.notify_all();
}

/// Whether anything moved.
bool DealtSockets::move(Lane& lane) {
  const std::lock_guard lock(lane.mutex);
  bool any = false;
  while (!lane.parts.empty()) {
    auto& part = lane.parts.front();
    iovec rest{part.data, part.left};
    std::size_t bytes = 0;
    const Moved moved = sends_ ? lane.socket.send({&rest, 1}, bytes) : lane.socket.receive({&rest, 1}, bytes);
    if (moved == Moved::nothing_yet) return any;
    if (moved != Moved::some) {
      part.request->failed = true;
      return false;
    }
    any = true;
    part.data += bytes;
    part.left -= bytes;
    if (part.left > 0) continue;
    --part.request->left;
    --parts_;
    lane.parts.pop_front();
  }
  return any;
}

/// As NCCL's helper threads: they spin while there is anything to move, and sleep when there is nothing.
void DealtSockets::work(int thread) {
  while (!stopping_) {
    if (parts_ <= 0) {
      std::unique_lock lock(sleeping_);
      woken_.wait_for(lock, std::chrono::milliseconds(10), [this] { return parts_ > 0 || stopping_; });
    }
    bool any = false;
    for (auto i = static_cast<std::size_t>(thread); i < lanes_.size();
         i += static_cast<std::size_t>(dealing_.threads)) {
      any = move(*lanes_[i]) || any;
    }
    if (!any) std::this_thread::yield();
  }
}

bool DealtSockets::test(DealtRequest& request, bool& done) {
  move_sizes();
  if (threads_.empty()) {
    for (auto& lane : lanes_) move(*lane);
  }
  done = request.left == 0;
  if (done) request.used = false;
  return !request.failed || done;
}

}  // namespace trigram::tests
