#include "kernels/cuda/runtime/staging.hpp"

#include <algorithm>
#include <cstring>

#include "kernels/cuda/runtime/check.hpp"

namespace trigram::cuda {

Staging::Staging(cudaStream_t stream) : stream_(stream) {
  for (Slot& slot : slots_) {
    check(cudaMallocHost(&slot.memory, slot_bytes), "cudaMallocHost");
    check(cudaEventCreateWithFlags(&slot.done, cudaEventDisableTiming), "cudaEventCreate");
  }
}

Staging::~Staging() {
  for (const Slot& slot : slots_) {
    static_cast<void>(cudaEventSynchronize(slot.done));
    static_cast<void>(cudaEventDestroy(slot.done));
    static_cast<void>(cudaFreeHost(slot.memory));
  }
}

void Staging::upload(std::span<const std::byte> from, void* to) {
  for (std::size_t begin = 0; begin < from.size(); begin += slot_bytes) {
    const std::span<const std::byte> piece = from.subspan(begin, std::min(slot_bytes, from.size() - begin));
    const Slot& slot = slots_[next_++ % slots_.size()];
    check(cudaEventSynchronize(slot.done), "upload");
    std::memcpy(slot.memory, piece.data(), piece.size());
    check(cudaMemcpyAsync(static_cast<std::byte*>(to) + begin, slot.memory, piece.size(), cudaMemcpyHostToDevice,
                          stream_),
          "upload");
    check(cudaEventRecord(slot.done, stream_), "upload");
  }
}

void Staging::download(const void* from, std::span<std::byte> to) {
  const std::size_t pieces = (to.size() + slot_bytes - 1) / slot_bytes;
  const auto piece = [&](std::size_t i) {
    return to.subspan(i * slot_bytes, std::min(slot_bytes, to.size() - i * slot_bytes));
  };
  for (std::size_t i = 0; i < pieces + slots_.size(); ++i) {
    const Slot& slot = slots_[i % slots_.size()];
    if (i >= slots_.size() && i - slots_.size() < pieces) {  // this slot's bytes of the round before
      check(cudaEventSynchronize(slot.done), "download");
      const std::span<std::byte> arrived = piece(i - slots_.size());
      std::memcpy(arrived.data(), slot.memory, arrived.size());
    }
    if (i < pieces) {
      check(cudaMemcpyAsync(slot.memory, static_cast<const std::byte*>(from) + i * slot_bytes, piece(i).size(),
                            cudaMemcpyDeviceToHost, stream_),
            "download");
      check(cudaEventRecord(slot.done, stream_), "download");
    }
  }
}

}  // namespace trigram::cuda
