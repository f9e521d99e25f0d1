// Norms of qsgd's buckets of any size, by the fixed tree.
#pragma once

#include "kernels/cuda/codecs/qsgd/qsgd_layout.hpp"
#include "kernels/cuda/tree_sum.hpp"

namespace trigram::cuda {

/// What a norm adds up, and what it makes of the sum.
struct TwoNorm {
  using Join = Added;
  static __device__ __forceinline__ double term(float x) { return static_cast<double>(x) * static_cast<double>(x); }
  static __device__ __forceinline__ float of(double squares) { return qsgd_two_norm(squares); }
};
/// Magnitudes compare as whole numbers do, NaN above all.
struct MaxNorm {
  using Join = Largest;
  static __device__ __forceinline__ double term(float x) { return static_cast<double>(scalar::magnitude(x)); }
  static __device__ __forceinline__ float of(double largest) {
    return qsgd_finite_or_nan(scalar::from_bits(static_cast<std::uint32_t>(largest)));
  }
};

/// Buckets of at most one tree block: a warp a bucket.
template <class Norm>
__global__ void __launch_bounds__(block_threads)
    write_small_norms(const float* values, const __grid_constant__ QsgdLayout layout, std::int64_t buckets,
                      std::uint8_t* frame) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * tree_warps;
  for (std::int64_t bucket = static_cast<std::int64_t>(blockIdx.x) * tree_warps + threadIdx.x / warp_lanes;
       bucket < buckets; bucket += stride) {
    const std::int64_t begin = bucket * layout.bucket;
    const std::int64_t rest = layout.count - begin;
    const double sum = tree_block_sum<typename Norm::Join>(
        rest < layout.bucket ? rest : layout.bucket, [&](std::int64_t i) { return Norm::term(values[begin + i]); });
    if (threadIdx.x % warp_lanes == 0) put(frame + 4 * bucket, Norm::of(sum));
  }
}

/// Larger buckets: sums of eight tree blocks each, `room` apart from bucket to bucket.
template <class Norm>
__global__ void __launch_bounds__(block_threads)
    add_large_norms(const float* values, const __grid_constant__ QsgdLayout layout, std::int64_t buckets,
                    double* partials, std::int64_t room) {
  const std::int64_t a_bucket = tree_partials(layout.bucket);
  for (std::int64_t index = blockIdx.x; index < buckets * a_bucket; index += gridDim.x) {
    const std::int64_t bucket = index / a_bucket;
    const std::int64_t begin = bucket * layout.bucket;
    const std::int64_t rest = layout.count - begin;
    const std::int64_t size = rest < layout.bucket ? rest : layout.bucket;
    const std::int64_t partial = index % a_bucket;
    if (partial >= tree_partials(size)) continue;
    const double sum =
        tree_partial<typename Norm::Join>(size, partial, [&](std::int64_t i) { return Norm::term(values[begin + i]); });
    if (threadIdx.x == 0) partials[bucket * room + partial] = sum;
  }
}

template <class Norm>
__global__ void __launch_bounds__(block_threads)
    write_large_norms(double* partials, std::int64_t room, const __grid_constant__ QsgdLayout layout,
                      std::int64_t buckets, std::uint8_t* frame) {
  for (std::int64_t bucket = blockIdx.x; bucket < buckets; bucket += gridDim.x) {
    const std::int64_t rest = layout.count - bucket * layout.bucket;
    const std::int64_t size = rest < layout.bucket ? rest : layout.bucket;
    const double sum = tree_total<typename Norm::Join>(partials + bucket * room, tree_partials(size));
    if (threadIdx.x == 0) put(frame + 4 * bucket, Norm::of(sum));
  }
}

/// Writes the norms of all buckets to the frame's header.
template <class Norm>
void write_norms(CudaKernels& kernels, const char* operation, const float* values, const QsgdLayout& layout,
                 std::uint8_t* frame) {
  const std::int64_t buckets = layout.header_bytes / 4;
  if (layout.bucket <= scalar::tree_block) {
    return launch(operation, kernels, write_small_norms<Norm>, Work{buckets, tree_warps}, block_threads, values, layout,
                  buckets, frame);
  }
  const std::int64_t a_bucket = tree_partials(layout.bucket);
  const auto room = static_cast<std::int64_t>(tree_room(a_bucket));
  auto* partials = static_cast<double*>(kernels.scratch(static_cast<std::size_t>(buckets * room) * sizeof(double)));
  launch(operation, kernels, add_large_norms<Norm>, Work{buckets * a_bucket, 1}, block_threads, values, layout, buckets,
         partials, room);
  launch(operation, kernels, write_large_norms<Norm>, Work{buckets, 1}, block_threads, partials, room, layout, buckets,
         frame);
}

}  // namespace trigram::cuda
