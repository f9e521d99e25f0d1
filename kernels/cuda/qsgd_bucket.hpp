// qsgd in one pass, for buckets of 512 and codes of 8 bits: a warp a bucket, which stays in registers; the last may be
// shorter.
#pragma once

#include "kernels/cuda/codec.hpp"
#include "kernels/cuda/qsgd_layout.hpp"
#include "kernels/cuda/qsgd_norms.hpp"

namespace trigram::cuda {

/// A lane holds four runs of four elements: those from 4·lane of each quarter of the bucket.
inline constexpr int bucket_runs = 4;
inline constexpr int run_elements = 4;
inline constexpr std::int64_t warp_bucket = bucket_runs * run_elements * warp_lanes;

__device__ __forceinline__ int run_begin(int run) {
  return run_elements * (run * warp_lanes + static_cast<int>(threadIdx.x % warp_lanes));
}

/// Values that are there; `wide` allows 16-byte accesses.
struct GivenBucket {
  const float* values;
  bool wide;

  __device__ __forceinline__ float one(const QsgdLayout&, std::int64_t i) const { return values[i]; }
  __device__ __forceinline__ void run(const QsgdLayout& layout, std::int64_t begin, float (&x)[run_elements]) const {
    if (wide) return read<run_elements>(values + begin, x);
#pragma unroll
    for (int j = 0; j < run_elements; ++j) x[j] = one(layout, begin + j);
  }
};

/// factor·Σ frames, which is written nowhere.
struct DecodedBucket {
  FrameTable table;
  float factor;

  static __device__ __forceinline__ float step(const QsgdLayout& layout, const std::uint8_t* frame, std::int64_t i) {
    return layout.norm(frame, i / warp_bucket) / static_cast<float>(layout.levels);
  }
  __device__ __forceinline__ float one(const QsgdLayout& layout, std::int64_t i) const {
    float sum = 0.0F;
    for (int f = 0; f < table.count; ++f) {
      const std::uint8_t* frame = table.frames[f];
      sum += qsgd_value(frame[layout.header_bytes + i], step(layout, frame, i));
    }
    return factor * sum;
  }
  __device__ __forceinline__ void run(const QsgdLayout& layout, std::int64_t begin, float (&x)[run_elements]) const {
    float sums[run_elements] = {};
#pragma unroll 4
    for (int f = 0; f < table.count; ++f) {
      const std::uint8_t* frame = table.frames[f];
      const float size = step(layout, frame, begin);
      const auto codes = load<std::uint32_t>(frame + layout.header_bytes + begin);
#pragma unroll
      for (int j = 0; j < run_elements; ++j) sums[j] += qsgd_value(codes >> 8 * j & 0xffU, size);
    }
#pragma unroll
    for (int j = 0; j < run_elements; ++j) x[j] = factor * sums[j];
  }
};

/// Elements from `begin` on; zeros, which add nothing to a norm, where the vector has ended.
template <class Source>
__device__ __forceinline__ void load_run(const Source& source, const QsgdLayout& layout, std::int64_t begin,
                                         float (&x)[run_elements]) {
  if (begin + run_elements <= layout.count) return source.run(layout, begin, x);
#pragma unroll
  for (int j = 0; j < run_elements; ++j) x[j] = begin + j < layout.count ? source.one(layout, begin + j) : 0.0F;
}

/// Four codes of 8 bits, as far as the vector goes.
__device__ __forceinline__ void put_run(const QsgdLayout& layout, std::uint8_t* frame, std::int64_t begin,
                                        std::uint32_t codes) {
  std::uint8_t* to = frame + layout.header_bytes + begin;
  if (begin + run_elements <= layout.count) return put(to, codes);
  for (std::int64_t j = 0; begin + j < layout.count; ++j) to[j] = static_cast<std::uint8_t>(codes >> 8 * j);
}

/// In four lanes 8 apart, x[j] of the lane that is i-th among them becomes x[i] of the j-th.
__device__ __forceinline__ void transpose_runs(float (&x)[run_elements]) {
  const unsigned lane = threadIdx.x % warp_lanes;
  const bool third = (lane & 16U) != 0;
  const bool second = (lane & 8U) != 0;
#pragma unroll
  for (int j = 0; j < 2; ++j) {
    const float given = __shfl_xor_sync(all_lanes, third ? x[j] : x[j + 2], 16);
    (third ? x[j] : x[j + 2]) = given;
  }
#pragma unroll
  for (int j = 0; j < run_elements; j += 2) {
    const float given = __shfl_xor_sync(all_lanes, second ? x[j] : x[j + 1], 8);
    (second ? x[j] : x[j + 1]) = given;
  }
}

/// The norm of the warp's bucket by the fixed tree, the same in every lane. After the transposition, lane 8i + j holds
/// the elements of the tree's lane 4j + i, four rows a run, in order.
template <class Norm>
__device__ __forceinline__ float bucket_norm(const float (&x)[bucket_runs][run_elements]) {
  using Join = typename Norm::Join;
  double sum = 0.0;
#pragma unroll
  for (int run = 0; run < bucket_runs; ++run) {
    float rows[run_elements] = {x[run][0], x[run][1], x[run][2], x[run][3]};
    transpose_runs(rows);
#pragma unroll
    for (int row = 0; row < run_elements; ++row) sum = Join::of(sum, Norm::term(rows[row]));
  }
  // The tree's halves are 16, 8, 4, 2 and 1 of its lanes apart.
  for (const int distance : {4, 2, 1, 16, 8}) sum = Join::of(sum, __shfl_xor_sync(all_lanes, sum, distance));
  return Norm::of(__shfl_sync(all_lanes, sum, 0));
}

/// A vector on its way to a frame.
template <class Source>
struct BucketsPart {
  Source source;
  QsgdLayout layout;
  std::uint8_t* frame;
};

template <class Norm, class Source>
__global__ void __launch_bounds__(block_threads)
    encode_buckets(const __grid_constant__ PartTable<BucketsPart<Source>> table) {
  const BucketsPart<Source>& own = table.own();
  const QsgdLayout& layout = own.layout;
  const std::int64_t stride = static_cast<std::int64_t>(table.blocks_each) * tree_warps;
  for (std::int64_t bucket = table.block() * tree_warps + threadIdx.x / warp_lanes; bucket < layout.buckets();
       bucket += stride) {
    const std::int64_t begin = bucket * warp_bucket;
    float x[bucket_runs][run_elements];
#pragma unroll
    for (int run = 0; run < bucket_runs; ++run) load_run(own.source, layout, begin + run_begin(run), x[run]);
    const float norm = bucket_norm<Norm>(x);
    if (threadIdx.x % warp_lanes == 0) put(own.frame + 4 * bucket, norm);
    const QsgdRounding rounding(norm, layout.levels);
#pragma unroll
    for (int run = 0; run < bucket_runs; ++run) {
      const std::int64_t first = begin + run_begin(run);
      std::uint32_t words[4];
      if (layout.stochastic) philox_block(layout.stream, static_cast<std::uint64_t>(first / 4), words);
      std::uint32_t codes = 0;
#pragma unroll
      for (int j = 0; j < run_elements; ++j) {
        codes |= rounding.code(x[run][j], layout.stochastic ? qsgd_draw(words[j]) : 0.5F) << 8 * j;
      }
      put_run(layout, own.frame, first, codes);
    }
  }
}

}  // namespace trigram::cuda
