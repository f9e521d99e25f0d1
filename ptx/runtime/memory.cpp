// Memory and copies of the double.
#include <cuda_runtime_api.h>

#include <cstring>
#include <string>
#include <vector>

#include "ptx/runtime/allocations.hpp"
#include "ptx/runtime/memory_watch.hpp"
#include "ptx/runtime/order.hpp"
#include "ptx/runtime/state.hpp"
#include "ptx/runtime/worker.hpp"

using cuda_on_host::noted;
using cuda_on_host::state;
using cuda_on_host::usable;
using cuda_on_host::wait_for_the_device;

namespace cuda_on_host {

Live live() {
  const std::lock_guard lock(state().mutex);
  return {live_bytes(), state().pinned, static_cast<std::int64_t>(state().all_streams.size()),
          static_cast<std::int64_t>(state().all_events.size())};
}

std::vector<std::string> leaks() {
  std::vector<std::string> leaks = leaked_memory();
  const std::lock_guard lock(state().mutex);
  const auto add = [&leaks](const char* kind, std::int64_t ordinal) {
    leaks.push_back(std::string("memcheck: leaked ") + kind + " " + std::to_string(ordinal) + " of the process");
  };
  for (const CUstream_st* stream : state().all_streams) add("stream", stream->ordinal);
  for (const CUevent_st* event : state().all_events) add("event", event->ordinal);
  return leaks;
}

namespace {

cudaError_t allocate(void** address, std::size_t bytes) {
  if (const cudaError_t status = usable(); status != cudaSuccess) return status;
  *address = bytes == 0 ? nullptr : allocate_memory(bytes, current_device());
  return bytes > 0 && *address == nullptr ? noted(cudaErrorMemoryAllocation) : cudaSuccess;
}

cudaError_t release(void* address) {
  if (address != nullptr && !free_memory(address)) return noted(cudaErrorInvalidValue);
  return usable();
}

/// FNV-1a, eight bytes at a time.
std::uint64_t digest(const void* address, std::size_t bytes) {
  constexpr std::uint64_t offset = 0xcbf29ce484222325, prime = 0x100000001b3;
  const auto* begin = static_cast<const std::byte*>(address);
  std::uint64_t sum = offset;
  std::uint64_t word = 0;
  for (; bytes >= sizeof word; bytes -= sizeof word, begin += sizeof word) {
    std::memcpy(&word, begin, sizeof word);
    sum = (sum ^ word) * prime;
  }
  for (; bytes > 0; --bytes, ++begin) sum = (sum ^ std::to_integer<std::uint64_t>(*begin)) * prime;
  return sum;
}

void tell_of_copy(const void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  constexpr const char* call = "cudaMemcpyAsync";
  if (kind == cudaMemcpyHostToDevice) return memory_watches().writes(to, bytes, call);
  if (kind == cudaMemcpyDeviceToHost) return memory_watches().reads(from, bytes, call);
  memory_watches().copies(to, from, bytes, call);
}

void begin_life(void* address, std::size_t bytes) {
  fill_fresh(address, bytes);
  memory_watches().allocated(address, bytes);
}

void require_device_ends(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  if (kind != cudaMemcpyDeviceToHost) require_live(to, bytes, "a copy to the device");
  if (kind != cudaMemcpyHostToDevice) require_live(from, bytes, "a copy from the device");
}

}  // namespace
}  // namespace cuda_on_host

cudaError_t cudaMalloc(void** address, std::size_t bytes) {
  wait_for_the_device("cudaMalloc");
  const cudaError_t status = cuda_on_host::allocate(address, bytes);
  if (status == cudaSuccess && bytes > 0) cuda_on_host::begin_life(*address, bytes);
  return status;
}
cudaError_t cudaFree(void* address) {
  wait_for_the_device("cudaFree");
  return cuda_on_host::release(address);
}
/// Who uses it before the stream has come here loses what was written.
cudaError_t cudaMallocAsync(void** address, std::size_t bytes, cudaStream_t stream) {
  const cudaError_t status = cuda_on_host::allocate(address, bytes);
  if (status != cudaSuccess || bytes == 0) return status;
  cuda_on_host::order(stream, [begin = *address, bytes] {
    cuda_on_host::require_live(begin, bytes, "cudaMallocAsync");
    if (usable() == cudaSuccess) cuda_on_host::begin_life(begin, bytes);
  });
  return cudaSuccess;
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
  if (const cudaError_t status = wait_for_the_device("cudaHostAlloc"); status != cudaSuccess) return status;
  *address = cuda_on_host::allocate_pinned(bytes);
  if (*address == nullptr) return noted(cudaErrorMemoryAllocation);
  ++state().pinned;
  return cudaSuccess;
}
cudaError_t cudaMallocHost(void** address, std::size_t bytes) {
  return cudaHostAlloc(address, bytes, cudaHostAllocDefault);
}
cudaError_t cudaFreeHost(void* address) {
  wait_for_the_device("cudaFreeHost");
  if (address == nullptr) return usable();
  if (!cuda_on_host::free_pinned(address)) return noted(cudaErrorInvalidValue);
  --state().pinned;
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

/// Host memory is read when the stream comes here, also where it is not pinned: whoever ends or changes it before is
/// found. A GPU may have read it earlier, or not.
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  if (const cudaError_t status = usable(); status != cudaSuccess) return status;
  if (bytes == 0) return cudaSuccess;
  if (stream == nullptr) wait_for_the_device("a copy without a stream");
  const bool from_host = kind == cudaMemcpyHostToDevice, to_host = kind == cudaMemcpyDeviceToHost;
  const bool pageable = (from_host && !cuda_on_host::is_pinned(from)) || (to_host && !cuda_on_host::is_pinned(to));
  if (pageable && state().quiet > 0) wait_for_the_device("a copy of host memory that is not pinned");
  const std::uint64_t ordered = from_host ? cuda_on_host::digest(from, bytes) : 0;
  cuda_on_host::order(stream, [=] {
    cuda_on_host::require_device_ends(to, from, bytes, kind);
    if (from_host && cuda_on_host::digest(from, bytes) != ordered)
      cuda_on_host::misuse("host memory had ended or changed before the copy from it ran");
    if (usable() != cudaSuccess) return;
    cuda_on_host::tell_of_copy(to, from, bytes, kind);
    std::memcpy(to, from, bytes);
  });
  return pageable && to_host ? cudaStreamSynchronize(stream) : cudaSuccess;
}
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  wait_for_the_device("cudaMemcpy");
  return cudaMemcpyAsync(to, from, bytes, kind, nullptr);
}
cudaError_t cudaMemsetAsync(void* address, int value, std::size_t bytes, cudaStream_t stream) {
  if (const cudaError_t status = usable(); status != cudaSuccess) return status;
  if (stream == nullptr) wait_for_the_device("cudaMemset");
  if (bytes == 0) return cudaSuccess;
  cuda_on_host::order(stream, [=] {
    cuda_on_host::require_live(address, bytes, "cudaMemsetAsync");
    if (usable() != cudaSuccess) return;
    cuda_on_host::memory_watches().writes(address, bytes, "cudaMemsetAsync");
    std::memset(address, value, bytes);
  });
  return cudaSuccess;
}
cudaError_t cudaMemset(void* address, int value, std::size_t bytes) {
  return cudaMemsetAsync(address, value, bytes, nullptr);
}
