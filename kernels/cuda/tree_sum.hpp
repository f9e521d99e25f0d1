// The fixed tree of all sums and norms (scalar.hpp) on a GPU: a warp adds one block of 4096 terms, a lane of the tree a
// lane of the warp; then block sums are added in pairs, level by level.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/cuda/runtime/launch.hpp"
#include "kernels/scalar.hpp"

namespace trigram::cuda {

static_assert(scalar::tree_lanes == warp_lanes);

/// Block sums that one block of threads adds up before it writes: a warp each.
inline constexpr int tree_warps = 8;

/// How two of the tree become one: their sum, or, for terms of at least 0, the larger.
struct Added {
  static __device__ __forceinline__ double of(double a, double b) { return a + b; }
};
struct Largest {
  static __device__ __forceinline__ double of(double a, double b) { return a < b ? b : a; }
};

/// The sum of a lane and its partners, as the tree halves them; whole in lane 0. All lanes must call.
template <class Join = Added>
__device__ __forceinline__ double tree_halved(double sum) {
#pragma unroll
  for (int half = warp_lanes / 2; half > 0; half /= 2) sum = Join::of(sum, __shfl_down_sync(all_lanes, sum, half));
  return sum;
}

/// Σ term(i) of one tree block of `count` terms, whole in lane 0 of the warp. All lanes must call.
template <class Join = Added, class Term>
__device__ __forceinline__ double tree_block_sum(std::int64_t count, const Term& term) {
  double sum = 0.0;
#pragma unroll 8
  for (std::int64_t i = threadIdx.x % warp_lanes; i < count; i += warp_lanes) sum = Join::of(sum, term(i));
  return tree_halved<Join>(sum);
}

/// values[0 … count) in pairs, level by level, an odd one passing up; count is 1 to 8.
template <class Join = Added>
__device__ __forceinline__ double tree_pairs(const double* values, std::int64_t count) {
  double level[8];
#pragma unroll
  for (int i = 0; i < 8; ++i) level[i] = i < count ? values[i] : 0.0;
#pragma unroll
  for (int step = 1; step < 8; step *= 2) {
#pragma unroll
    for (int i = 0; i + step < 8; i += 2 * step) {
      level[i] = i + step < count ? Join::of(level[i], level[i + step]) : level[i];
    }
  }
  return level[0];
}

/// The sum of one double a warp, in the order of warps; whole in thread 0 of a block of `tree_warps` warps, of which
/// the first `count` hold something. All threads must call.
template <class Join = Added>
__device__ __forceinline__ double tree_across_warps(double sum, std::int64_t count) {
  __shared__ double sums[tree_warps];
  if (threadIdx.x % warp_lanes == 0) sums[threadIdx.x / warp_lanes] = sum;
  __syncthreads();
  const double total =
      threadIdx.x == 0 && count > 0 ? tree_pairs<Join>(sums, count < tree_warps ? count : tree_warps) : 0.0;
  __syncthreads();
  return total;
}

/// Tree blocks of `count` terms.
TRIGRAM_RULE std::int64_t tree_blocks(std::int64_t count) {
  return (count + scalar::tree_block - 1) / scalar::tree_block;
}
/// Sums that `add_tree_blocks` leaves of them.
TRIGRAM_RULE std::int64_t tree_partials(std::int64_t count) {
  return (tree_blocks(count) + tree_warps - 1) / tree_warps;
}

/// For one block of tree_warps warps: the sum of tree blocks 8·partial … 8·partial + 7 of `count` terms, whole in
/// thread 0. All threads must call.
template <class Join = Added, class Term>
__device__ __forceinline__ double tree_partial(std::int64_t count, std::int64_t partial, const Term& term) {
  const std::int64_t block = partial * tree_warps + threadIdx.x / warp_lanes;
  const std::int64_t begin = block * scalar::tree_block;
  const std::int64_t rest = count - begin;
  const std::int64_t size = rest < 0 ? 0 : rest < scalar::tree_block ? rest : scalar::tree_block;
  const double sum = tree_block_sum<Join>(size, [&](std::int64_t i) { return term(begin + i); });
  return tree_across_warps<Join>(sum, tree_blocks(count) - partial * tree_warps);
}

/// partials[p] = tree_partial of p, for every p of this block in the grid.
template <class Term>
__device__ __forceinline__ void add_tree_blocks(std::int64_t count, double* partials, const Term& term) {
  for (std::int64_t partial = blockIdx.x; partial < tree_partials(count); partial += gridDim.x) {
    const double total = tree_partial(count, partial, term);
    if (threadIdx.x == 0) partials[partial] = total;
  }
}

/// For one block of threads: the sum of partials[0 … count) in pairs, level by level, which uses partials up to
/// tree_room(count) as room; the same in every thread, 0 for none.
template <class Join = Added>
__device__ __forceinline__ double tree_total(double* partials, std::int64_t count) {
  if (count == 0) return 0.0;
  double* from = partials;
  double* to = partials + count;
  while (count > 1) {
    const std::int64_t sums = (count + 7) / 8;
    for (std::int64_t i = threadIdx.x; i < sums; i += blockDim.x) {
      const std::int64_t rest = count - 8 * i;
      to[i] = tree_pairs<Join>(from + 8 * i, rest < 8 ? rest : 8);
    }
    __syncthreads();
    double* const used = from;
    from = to;
    to = used;
    count = sums;
  }
  return *from;
}

/// Doubles that `tree_total` needs for `count` partials.
inline std::size_t tree_room(std::int64_t partials) {
  return static_cast<std::size_t>(std::max<std::int64_t>(partials + (partials + 7) / 8, 1));
}

}  // namespace trigram::cuda
