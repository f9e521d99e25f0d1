// Memory of the double: the host's, of exactly the size asked for.
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <vector>

#include "tests/support/cuda_on_host/cuda_runtime.h"
#include "tests/support/cuda_on_host/state.hpp"
#include "tests/support/cuda_on_host/worker.hpp"

using cuda_on_host::noted;
using cuda_on_host::state;
using cuda_on_host::usable;

namespace cuda_on_host {

Live live() {
  const std::lock_guard lock(state().mutex);
  return {state().device_bytes, state().pinned, state().streams, state().events};
}

namespace {

/// As CUDA aligns; what is read before it is written shows.
void* fresh(std::size_t bytes) {
  void* address = nullptr;
  if (posix_memalign(&address, 256, bytes) != 0) return nullptr;
  return std::memset(address, 0xCD, bytes);
}

cudaError_t allocate(void** address, std::size_t bytes) {
  if (const cudaError_t status = usable(); status != cudaSuccess) return status;
  *address = nullptr;
  if (bytes == 0) return cudaSuccess;
  *address = fresh(bytes);
  if (*address == nullptr) return noted(cudaErrorMemoryAllocation);
  const std::lock_guard lock(state().mutex);
  state().memory[*address] = bytes;
  state().device_bytes += static_cast<std::int64_t>(bytes);
  return cudaSuccess;
}

cudaError_t release(void* address) {
  if (address == nullptr) return usable();
  {
    const std::lock_guard lock(state().mutex);
    const auto found = state().memory.find(address);
    if (found == state().memory.end()) return noted(cudaErrorInvalidValue);
    state().device_bytes -= static_cast<std::int64_t>(found->second);
    state().memory.erase(found);
  }
  std::free(address);
  return usable();
}

bool is_pinned(const void* address) {
  const std::lock_guard lock(state().mutex);
  const auto after = state().pinned_memory.upper_bound(const_cast<void*>(address));
  if (after == state().pinned_memory.begin()) return false;
  const auto& [begin, bytes] = *std::prev(after);
  return static_cast<const std::byte*>(address) < static_cast<const std::byte*>(begin) + bytes;
}

}  // namespace
}  // namespace cuda_on_host

cudaError_t cudaMalloc(void** address, std::size_t bytes) { return cuda_on_host::allocate(address, bytes); }
cudaError_t cudaFree(void* address) {
  cuda_on_host::drain_all();
  return cuda_on_host::release(address);
}
cudaError_t cudaMallocAsync(void** address, std::size_t bytes, cudaStream_t) {
  return cuda_on_host::allocate(address, bytes);
}
cudaError_t cudaFreeAsync(void* address, cudaStream_t stream) {
  if (const cudaError_t status = usable(); status != cudaSuccess) return status;
  cudaError_t at_once = cudaSuccess;
  cudaError_t* const answer = cuda_on_host::runs_later(stream) ? nullptr : &at_once;
  cuda_on_host::order(stream, [address, answer] {
    const cudaError_t status = cuda_on_host::release(address);
    if (answer != nullptr) *answer = status;
  });
  return at_once;
}

cudaError_t cudaHostAlloc(void** address, std::size_t bytes, unsigned) {
  if (const cudaError_t status = usable(); status != cudaSuccess) return status;
  *address = cuda_on_host::fresh(bytes);
  if (*address == nullptr) return noted(cudaErrorMemoryAllocation);
  ++state().pinned;
  const std::lock_guard lock(state().mutex);
  state().pinned_memory[*address] = bytes;
  return cudaSuccess;
}
cudaError_t cudaMallocHost(void** address, std::size_t bytes, unsigned flags) {
  return cudaHostAlloc(address, bytes, flags);
}
cudaError_t cudaFreeHost(void* address) {
  cuda_on_host::drain_all();
  if (address != nullptr) --state().pinned;
  {
    const std::lock_guard lock(state().mutex);
    state().pinned_memory.erase(address);
  }
  std::free(address);
  return usable();
}

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  cudaDeviceProp properties;
  if (const cudaError_t status = cudaGetDeviceProperties(&properties, 0); status != cudaSuccess) return status;
  *total = properties.totalGlobalMem;
  *free = *total - static_cast<std::size_t>(cuda_on_host::live().device_bytes);
  return cudaSuccess;
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  if (device < 0 || device >= state().devices) return noted(cudaErrorInvalidDevice);
  *pool = &state().pool;
  return usable();
}
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  const std::lock_guard lock(state().mutex);
  const std::size_t size = attribute == cudaMemPoolAttrReleaseThreshold ? sizeof(std::uint64_t) : sizeof(int);
  std::memcpy(&pool->attributes[attribute], value, size);
  return usable();
}
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  const std::lock_guard lock(state().mutex);
  const std::size_t size = attribute == cudaMemPoolAttrReleaseThreshold ? sizeof(std::uint64_t) : sizeof(int);
  std::memcpy(value, &pool->attributes[attribute], size);
  return usable();
}
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, std::size_t) { return usable(); }

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  if (const cudaError_t status = usable(); status != cudaSuccess) return status;
  if (bytes == 0) return cudaSuccess;
  if (kind == cudaMemcpyHostToDevice && !cuda_on_host::is_pinned(from)) {
    // As CUDA does, what is in ordinary memory is taken before the call returns.
    const auto* begin = static_cast<const std::byte*>(from);
    cuda_on_host::order(stream, [to, taken = std::vector<std::byte>(begin, begin + bytes)] {
      std::memcpy(to, taken.data(), taken.size());
    });
    return cudaSuccess;
  }
  cuda_on_host::order(stream, [=] { std::memcpy(to, from, bytes); });
  const bool waits = kind == cudaMemcpyDeviceToHost && !cuda_on_host::is_pinned(to);
  return waits ? cudaStreamSynchronize(stream) : cudaSuccess;
}
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  cuda_on_host::drain_all();
  return cudaMemcpyAsync(to, from, bytes, kind);
}
cudaError_t cudaMemsetAsync(void* address, int value, std::size_t bytes, cudaStream_t stream) {
  if (const cudaError_t status = usable(); status != cudaSuccess) return status;
  if (bytes > 0) cuda_on_host::order(stream, [=] { std::memset(address, value, bytes); });
  return cudaSuccess;
}
cudaError_t cudaMemset(void* address, int value, std::size_t bytes) { return cudaMemsetAsync(address, value, bytes); }
