#include "backends/gpu/stream.hpp"

#include <utility>

#include "kernels/cuda/runtime/check.hpp"

namespace trigram::gpu {

using cuda::check;

Stream::Stream(bool urgent) {
  int least = 0;
  int greatest = 0;
  check(cudaDeviceGetStreamPriorityRange(&least, &greatest), "cudaDeviceGetStreamPriorityRange");
  check(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, urgent ? greatest : least),
        "cudaStreamCreateWithPriority");
}

Stream::~Stream() { cudaStreamDestroy(stream_); }

Event::Event(Kind kind) {
  const unsigned flags = kind == Kind::time ? cudaEventDefault : cudaEventDisableTiming;
  check(cudaEventCreateWithFlags(&event_, flags), "cudaEventCreateWithFlags");
}

Event::~Event() {
  if (event_ != nullptr) cudaEventDestroy(event_);
}

Event::Event(Event&& other) noexcept : event_(std::exchange(other.event_, nullptr)) {}

Event& Event::operator=(Event&& other) noexcept {
  std::swap(event_, other.event_);
  return *this;
}

void Event::record(cudaStream_t stream) { check(cudaEventRecord(event_, stream), "cudaEventRecord"); }

void Event::hold_back(cudaStream_t stream) const {
  check(cudaStreamWaitEvent(stream, event_, 0), "cudaStreamWaitEvent");
}

void Event::wait() const { check(cudaEventSynchronize(event_), "cudaEventSynchronize"); }

bool Event::passed() const {
  const cudaError_t status = cudaEventQuery(event_);
  if (status == cudaErrorNotReady) return false;
  check(status, "cudaEventQuery");
  return true;
}

Event EventPool::take() {
  if (free_.empty()) return Event(kind_);
  Event event = std::move(free_.back());
  free_.pop_back();
  return event;
}

}  // namespace trigram::gpu
