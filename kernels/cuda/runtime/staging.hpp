// Pinned memory through which host memory of any kind travels without a wait for the device.
#pragma once

#include <cuda_runtime.h>

#include <array>
#include <cstddef>
#include <span>

namespace trigram::cuda {

/// A ring of pinned slots. An upload returns when the last piece is in a slot; it waits only while all are in flight.
class Staging {
 public:
  explicit Staging(cudaStream_t stream);
  ~Staging();
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  void upload(std::span<const std::byte> from, void* to);
  /// Returns when all bytes have arrived, and with them all work that was enqueued before.
  void download(const void* from, std::span<std::byte> to);

 private:
  static constexpr std::size_t slot_bytes = 512 * 1024;
  struct Slot {
    std::byte* memory = nullptr;
    cudaEvent_t done = nullptr;
  };

  cudaStream_t stream_;
  std::array<Slot, 4> slots_;
  std::size_t next_ = 0;
};

}  // namespace trigram::cuda
