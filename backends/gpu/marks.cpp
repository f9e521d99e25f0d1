#include "backends/gpu/marks.hpp"

#include <exception>

#include "kernels/cuda/runtime/check.hpp"

namespace trigram::gpu {

StreamMarks::StreamMarks(cudaStream_t stream, const Clock& clock) : stream_(stream), clock_(clock) { restart(); }

void StreamMarks::restart() {
  while (!marks_.empty()) {
    pool_.give_back(std::move(marks_.front().event));
    marks_.pop_front();
  }
  last_.record(stream_);
  cuda::check(cudaEventSynchronize(last_.get()), "cudaEventSynchronize");
  last_seconds_ = clock_.now() + clock_.stopped_seconds();
}

void StreamMarks::set() noexcept {
  try {
    Event event = pool_.take();
    event.record(stream_);
    marks_.push_back({std::move(event), clock_.stopped_seconds()});
  } catch (const std::exception&) {
    marks_.clear();  // the device is broken: the next operation says so, and no time matters any more
  }
}

std::optional<double> StreamMarks::take(bool wait) noexcept {
  if (marks_.empty()) return std::nullopt;
  Mark& mark = marks_.front();
  const cudaError_t status = wait ? cudaEventSynchronize(mark.event.get()) : cudaEventQuery(mark.event.get());
  float milliseconds = 0;
  if (status != cudaSuccess || cudaEventElapsedTime(&milliseconds, last_.get(), mark.event.get()) != cudaSuccess) {
    return std::nullopt;
  }
  last_seconds_ += static_cast<double>(milliseconds) * 1e-3;
  const double seconds = last_seconds_ - mark.stopped;
  std::swap(last_, mark.event);
  pool_.give_back(std::move(mark.event));
  marks_.pop_front();
  return seconds;
}

}  // namespace trigram::gpu
