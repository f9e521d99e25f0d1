// Loops in which each warp of a block of tree_warps takes a row.
#pragma once

#include "kernels/cuda/tree_sum.hpp"

namespace trigram::cuda {

__device__ __forceinline__ std::int64_t first_row() {
  return static_cast<std::int64_t>(blockIdx.x) * tree_warps + threadIdx.x / warp_lanes;
}
__device__ __forceinline__ std::int64_t row_step() { return static_cast<std::int64_t>(gridDim.x) * tree_warps; }

template <class T, class Op>
__device__ __forceinline__ T over_lanes(T value, const Op& op) {
#pragma unroll
  for (int half = warp_lanes / 2; half > 0; half /= 2) value = op(value, __shfl_xor_sync(all_lanes, value, half));
  return value;
}

}  // namespace trigram::cuda
