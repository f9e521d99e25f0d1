// The smallest and the largest of many values, by a part for each block of threads.
#pragma once

#include "kernels/codecs/minmax_uint8.hpp"
#include "kernels/cuda/runtime/launch.hpp"

namespace trigram::cuda {

/// The range of some values; of none at first.
struct RangePart {
  float smallest = __builtin_huge_valf();
  float largest = -__builtin_huge_valf();
  std::uint32_t magnitude = 0;  ///< the largest, which tells infinities and NaN

  /// fminf and fmaxf pass over NaN; which zero they keep does not show (minmax_header).
  __device__ __forceinline__ void widen(float value) {
    smallest = fminf(smallest, value);
    largest = fmaxf(largest, value);
    const std::uint32_t size = scalar::magnitude(value);
    magnitude = size > magnitude ? size : magnitude;
  }
  __device__ __forceinline__ void widen(const RangePart& other) {
    smallest = other.smallest < smallest ? other.smallest : smallest;
    largest = other.largest > largest ? other.largest : largest;
    magnitude = other.magnitude > magnitude ? other.magnitude : magnitude;
  }
};

/// The range over all threads of a block, the same in each. All threads must call.
__device__ __forceinline__ RangePart block_range(RangePart part) {
  constexpr unsigned most_warps = block_threads / warp_lanes;
  __shared__ float smallest[most_warps];
  __shared__ float largest[most_warps];
  __shared__ std::uint32_t magnitude[most_warps];
#pragma unroll
  for (int half = warp_lanes / 2; half > 0; half /= 2) {
    RangePart other;
    other.smallest = __shfl_xor_sync(all_lanes, part.smallest, half);
    other.largest = __shfl_xor_sync(all_lanes, part.largest, half);
    other.magnitude = __shfl_xor_sync(all_lanes, part.magnitude, half);
    part.widen(other);
  }
  const unsigned own = threadIdx.x / warp_lanes;
  if (threadIdx.x % warp_lanes == 0) {
    smallest[own] = part.smallest;
    largest[own] = part.largest;
    magnitude[own] = part.magnitude;
  }
  __syncthreads();
  for (unsigned warp = 0; warp < blockDim.x / warp_lanes; ++warp) {
    part.widen(RangePart{smallest[warp], largest[warp], magnitude[warp]});
  }
  return part;
}

/// *to = the range over all threads of this block.
__device__ __forceinline__ void write_part(const RangePart& part, RangePart* to) {
  const RangePart whole = block_range(part);
  if (threadIdx.x == 0) *to = whole;
}

/// The header of values whose range lies in `count` parts, the same in each thread. All threads must call.
__device__ __forceinline__ ValueRange whole_range(const RangePart* parts, std::int64_t count) {
  RangePart part;
  for (std::int64_t i = threadIdx.x; i < count; i += blockDim.x) part.widen(parts[i]);
  const RangePart whole = block_range(part);
  return minmax_header(whole.smallest, whole.largest, whole.magnitude < scalar::infinity_bits);
}

}  // namespace trigram::cuda
