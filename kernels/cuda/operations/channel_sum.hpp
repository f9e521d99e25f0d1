// Sums over a channel of images on a GPU, a block of threads a channel.
#pragma once

#include "kernels/cuda/tree_sum.hpp"
#include "kernels/operations/channels.hpp"

namespace trigram::cuda {

static_assert(Channels::sums == tree_warps);

/// Σ term(i) over the elements i of one channel, in the order of channels.hpp: a warp is one of its sums. The same in
/// every thread of the block, all of which must call; term gives f64.
template <class Term>
__device__ __forceinline__ double channel_sum(const Channels& images, std::int64_t channel, const Term& term) {
  double sum = 0.0;
  for (std::int64_t n = threadIdx.x / warp_lanes; n < images.samples; n += tree_warps) {
    const std::int64_t begin = images.begin(n, channel);
    sum += tree_block_sum(images.places, [&](std::int64_t i) { return term(begin + i); });
  }
  __shared__ double all;
  const double total = tree_across_warps(sum, tree_warps);
  if (threadIdx.x == 0) all = total;
  __syncthreads();
  const double found = all;
  __syncthreads();
  return found;
}

/// body(i) for the elements i of one channel, by the threads of the block.
template <class Body>
__device__ __forceinline__ void over_channel(const Channels& images, std::int64_t channel, const Body& body) {
  for (std::int64_t at = threadIdx.x; at < images.samples * images.places; at += blockDim.x)
    body(images.begin(at / images.places, channel) + at % images.places);
}

}  // namespace trigram::cuda
