// Streams and events of CUDA, owned.
#pragma once

#include <cuda_runtime.h>

#include <vector>

namespace trigram::gpu {

/// A stream that waits for no other unless told so.
class Stream {
 public:
  /// Among the work of one GPU, urgent streams go first.
  explicit Stream(bool urgent);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

/// A point in a stream's work.
class Event {
 public:
  enum class Kind : unsigned char { order, time };
  /// None yet, to be moved to.
  Event() = default;
  explicit Event(Kind kind);
  ~Event();
  Event(Event&& other) noexcept;
  Event& operator=(Event&& other) noexcept;

  void record(cudaStream_t stream);
  /// What comes on `stream` from now on follows this event.
  void hold_back(cudaStream_t stream) const;
  /// Blocks the host until it has passed. Throws BackendError for an error of the device.
  void wait() const;
  /// Whether it has passed; never blocks. Throws BackendError for an error of the device.
  bool passed() const;
  cudaEvent_t get() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

/// Events to use again, since making one costs more than recording it. For one thread.
class EventPool {
 public:
  explicit EventPool(Event::Kind kind) : kind_(kind) {}
  Event take();
  void give_back(Event event) { free_.push_back(std::move(event)); }

 private:
  Event::Kind kind_;
  std::vector<Event> free_;
};

}  // namespace trigram::gpu
