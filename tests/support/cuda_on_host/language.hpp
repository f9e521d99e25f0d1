// The words that nvcc adds to C++, for one thread of one block at a time (see cuda_runtime.h).
#pragma once

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "tests/support/cuda_on_host/fibers.hpp"
#include "tests/support/cuda_on_host/vector_types.h"

#define __global__
#define __host__
#define __device__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __grid_constant__
#define __constant__
/// One block runs at a time in an OS thread, so its shared memory is the OS thread's.
#define __shared__ static thread_local

inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }
inline float2 make_float2(float x, float y) { return {x, y}; }
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }

/// Where the running fiber stands; kept by the runner of blocks.
extern constinit thread_local uint3 threadIdx;
extern constinit thread_local uint3 blockIdx;
extern constinit thread_local uint3 blockDim;
extern constinit thread_local uint3 gridDim;
inline constexpr int warpSize = 32;

inline void __syncthreads() { cuda_on_host::block_barrier(); }
inline void __syncwarp(unsigned mask = 0xffffffffU) { cuda_on_host::warp_barrier(mask, cuda_on_host::WarpCall::sync); }
inline void __threadfence() {}
inline void __threadfence_system() { std::atomic_thread_fence(std::memory_order_seq_cst); }
inline void __threadfence_block() {}

namespace cuda_on_host {

/// The value that lane `lane` of this warp gave to the same call.
template <class T>
T exchanged(unsigned mask, WarpCall call, T value, unsigned lane) {
  static_assert(sizeof(T) <= sizeof(std::uint64_t) && std::is_trivially_copyable_v<T>);
  std::uint64_t given = 0;
  std::memcpy(&given, &value, sizeof value);
  const std::uint64_t taken = warp_exchange(mask, call, given, lane);
  std::memcpy(&value, &taken, sizeof value);
  return value;
}

}  // namespace cuda_on_host

namespace cuda_on_host {

/// Of a shuffle among `width` lanes; the mutation makes 1, 2, 4, … of …, 4, 2, 1.
inline unsigned distance(unsigned given, int width) {
  const bool step = given > 0 && (given & (given - 1)) == 0 && given < static_cast<unsigned>(width);
  return step && mutation() == Mutation::tree_order ? static_cast<unsigned>(width) / 2 / given : given;
}

}  // namespace cuda_on_host

/// Lanes outside the segment of `width` give the caller's own value, as on a GPU.
template <class T>
T __shfl_sync(unsigned mask, T value, int source, int width = warpSize) {
  const unsigned lane = cuda_on_host::lane_id();
  const auto segment = static_cast<unsigned>(width);
  const unsigned from = (lane & ~(segment - 1U)) | (static_cast<unsigned>(source) & (segment - 1U));
  return cuda_on_host::exchanged(mask, cuda_on_host::WarpCall::shuffle, value, from);
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = warpSize) {
  const unsigned lane = cuda_on_host::lane_id();
  const unsigned from = lane ^ cuda_on_host::distance(static_cast<unsigned>(lane_mask), width);
  const bool inside = (from | (static_cast<unsigned>(width) - 1U)) <= (lane | (static_cast<unsigned>(width) - 1U));
  return cuda_on_host::exchanged(mask, cuda_on_host::WarpCall::shuffle_xor, value, inside ? from : lane);
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = warpSize) {
  const unsigned lane = cuda_on_host::lane_id();
  const unsigned last = lane | (static_cast<unsigned>(width) - 1U);
  delta = cuda_on_host::distance(delta, width);
  return cuda_on_host::exchanged(mask, cuda_on_host::WarpCall::shuffle_down, value,
                                 lane + delta <= last ? lane + delta : lane);
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = warpSize) {
  const unsigned lane = cuda_on_host::lane_id();
  const unsigned first = lane & ~(static_cast<unsigned>(width) - 1U);
  return cuda_on_host::exchanged(mask, cuda_on_host::WarpCall::shuffle_up, value,
                                 lane >= first + delta ? lane - delta : lane);
}
inline unsigned __ballot_sync(unsigned mask, int predicate) { return cuda_on_host::warp_ballot(mask, predicate != 0); }
inline int __any_sync(unsigned mask, int predicate) { return __ballot_sync(mask, predicate) != 0 ? 1 : 0; }
inline int __all_sync(unsigned mask, int predicate) { return __ballot_sync(mask, predicate) == 0xffffffffU ? 1 : 0; }

/// Nanoseconds, where a GPU counts its own cycles.
inline long long clock64() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __clz(int x) { return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x)); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline unsigned __umulhi(unsigned x, unsigned y) {
  return static_cast<unsigned>(static_cast<std::uint64_t>(x) * y >> 32U);
}
inline float __fmaf_rn(float x, float y, float z) { return std::fma(x, y, z); }
inline float __frcp_rn(float x) { return 1.0F / x; }
inline unsigned __float2uint_ru(float x) { return static_cast<unsigned>(std::ceil(x)); }

template <class T>
T __ldg(const T* address) {
  return *address;
}
template <class T>
T __ldcs(const T* address) {
  return *address;
}
template <class T>
T __ldcg(const T* address) {
  return *address;
}
template <class T>
void __stcs(T* address, T value) {
  *address = value;
}
template <class T>
void __stcg(T* address, T value) {
  *address = value;
}
