// qsgd in one pass, for buckets of 512 and codes of 8 bits: a warp a bucket, which stays in registers; the last may be
// shorter.
#pragma once

#include "kernels/cuda/codecs/codec.hpp"
#include "kernels/cuda/codecs/qsgd/qsgd_codes.hpp"
#include "kernels/cuda/codecs/qsgd/qsgd_norms.hpp"
#include "kernels/cuda/philox_blocks.hpp"

namespace trigram::cuda {

/// A lane holds four runs of four elements: those from 4·lane of each quarter of the bucket.
inline constexpr int bucket_runs = 4;
inline constexpr int run_elements = 4;
inline constexpr std::int64_t warp_bucket = bucket_runs * run_elements * warp_lanes;
using BucketValues = float[bucket_runs][run_elements];

/// What is seldom takes one run at a time, the first, and moves the others up, which is less code than all at once.
template <class T>
__device__ __forceinline__ void move_up(T (&runs)[bucket_runs][run_elements], const T (&last)[run_elements]) {
#pragma unroll
  for (int j = 0; j < run_elements; ++j) {
#pragma unroll
    for (int run = 0; run + 1 < bucket_runs; ++run) runs[run][j] = runs[run + 1][j];
    runs[bucket_runs - 1][j] = last[j];
  }
}

/// Where the lane's run lies in its bucket.
__device__ __forceinline__ int run_begin(int run) {
  return run_elements * (run * warp_lanes + static_cast<int>(threadIdx.x % warp_lanes));
}

/// Values that are there; `wide` allows 16-byte accesses.
struct GivenBucket {
  static constexpr int drawn_at_once = 4;  ///< runs whose random words are in registers at a time
  const float* values;
  bool wide;

  /// x = the `size` elements from `begin` on; zeros, which add nothing to a norm, where the vector has ended.
  __device__ __forceinline__ void load(const QsgdLayout&, std::int64_t begin, int size, BucketValues& x) const {
    const float* from = values + begin;
    if (wide && size == warp_bucket) {
#pragma unroll
      for (int run = 0; run < bucket_runs; ++run) read<run_elements>(from + run_begin(run), x[run]);
      return;
    }
#pragma unroll
    for (int run = 0; run < bucket_runs; ++run) {
#pragma unroll
      for (int j = 0; j < run_elements; ++j) {
        x[run][j] = run_begin(run) + j < size ? from[run_begin(run) + j] : 0.0F;
      }
    }
  }
};

/// factor·Σ frames, which is written nowhere.
struct DecodedBucket {
  static constexpr int drawn_at_once = 4;
  static constexpr int frames_in_flight = 4;
  FrameTable table;
  float factor;
  bool aligned;  ///< all frames lie at multiples of four bytes

  __device__ __forceinline__ void load(const QsgdLayout& layout, std::int64_t begin, int size, BucketValues& x) const {
    const float scale = factor;
    const Quotient by_levels = Quotient::by(static_cast<float>(layout.levels));
#pragma unroll
    for (int run = 0; run < bucket_runs; ++run) {
#pragma unroll
      for (int j = 0; j < run_elements; ++j) x[run][j] = 0.0F;
    }
    for (int first = 0; first < table.count; first += warp_lanes) {
      // Each lane divides for one frame.
      const int here = table.count - first < warp_lanes ? table.count - first : warp_lanes;
      const int lane = static_cast<int>(threadIdx.x % warp_lanes);
      float step = 0.0F;
      if (lane < here && size > 0) {
        step = by_levels.of(norm_at(table.frames[first + lane] + begin / warp_bucket * 4));
      }
      const bool can = size == warp_bucket && aligned && is_small_step(step);
      const bool quick = __all_sync(all_lanes, can ? 1 : 0) != 0;
      const std::int64_t codes = layout.header_bytes + begin;
      quick ? add_quickly(codes, first, here, step, x) : add_slowly(codes, size, first, here, step, x);
    }
#pragma unroll
    for (int run = 0; run < bucket_runs; ++run) {
#pragma unroll
      for (int j = 0; j < run_elements; ++j) {
        x[run][j] = scale * x[run][j];
      }
    }
  }

 private:
  __device__ __forceinline__ float norm_at(const std::uint8_t* from) const {
    return aligned ? *reinterpret_cast<const float*>(from) : cuda::load<float>(from);
  }
  __device__ __forceinline__ void add_quickly(std::int64_t codes, int first, int here, float step,
                                              BucketValues& sums) const {
    const float raised = raised_step(step);
    const std::int64_t at = codes + run_begin(0);
    for_frames<frames_in_flight>(here, [&]<int n>(std::integral_constant<int, n>, int next) {
      std::uint32_t words[n][bucket_runs];
#pragma unroll
      for (int k = 0; k < n; ++k) {
        const auto* from = reinterpret_cast<const std::uint32_t*>(table.frames[first + next + k] + at);
#pragma unroll
        for (int run = 0; run < bucket_runs; ++run) words[k][run] = from[run * warp_lanes];
      }
#pragma unroll
      for (int k = 0; k < n; ++k) {
        const float own_step = __shfl_sync(all_lanes, raised, next + k);
#pragma unroll
        for (int run = 0; run < bucket_runs; ++run) add_small_steps(words[k][run], own_step, sums[run]);
      }
    });
  }
  __device__ __forceinline__ void add_slowly(std::int64_t codes, int size, int first, int here, float step,
                                             BucketValues& sums) const {
#pragma unroll 1
    for (int next = 0; next < here; ++next) {
      const float own_step = __shfl_sync(all_lanes, step, next);
      const std::uint8_t* from = table.frames[first + next] + codes;
#pragma unroll 1
      for (int run = 0; run < bucket_runs; ++run) {
        float sum[run_elements];
        decode_four(codes_at(from, run_begin(run), size, aligned), own_step, sum);
#pragma unroll
        for (int j = 0; j < run_elements; ++j) sum[j] = run_begin(run) + j < size ? sums[0][j] + sum[j] : 0.0F;
        move_up(sums, sum);
      }
    }
  }
};

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

/// The norm of the warp's bucket, the same in every lane.
template <class Norm>
struct BucketNorm;

/// Magnitudes compare as whole numbers do, NaN above all.
template <>
struct BucketNorm<MaxNorm> {
  static __device__ __forceinline__ float of(const BucketValues& x) {
    std::uint32_t largest = 0;
#pragma unroll
    for (int run = 0; run < bucket_runs; ++run) {
#pragma unroll
      for (int j = 0; j < run_elements; ++j) largest = larger(largest, scalar::magnitude(x[run][j]));
    }
#pragma unroll
    for (int half = warp_lanes / 2; half > 0; half /= 2) {
      largest = larger(largest, __shfl_xor_sync(all_lanes, largest, half));
    }
    return qsgd_finite_or_nan(scalar::from_bits(largest));
  }
  static __device__ __forceinline__ std::uint32_t larger(std::uint32_t a, std::uint32_t b) { return a < b ? b : a; }
};

/// By the fixed tree. After the transposition, lane 8i + j holds the elements of the tree's lane 4j + i, four rows a
/// run, in order. Squares are exact in f64, so that adding them in one step rounds as in two.
template <>
struct BucketNorm<TwoNorm> {
  static __device__ __forceinline__ float of(const BucketValues& x) {
    double sum = 0.0;
#pragma unroll
    for (int run = 0; run < bucket_runs; ++run) {
      float rows[run_elements] = {x[run][0], x[run][1], x[run][2], x[run][3]};
      transpose_runs(rows);
#pragma unroll
      for (int row = 0; row < run_elements; ++row) {
        const auto value = static_cast<double>(rows[row]);
        sum = fma(value, value, sum);
      }
    }
    // The tree's halves are 16, 8, 4, 2 and 1 of its lanes apart.
#pragma unroll
    for (const int distance : {4, 2, 1, 16, 8}) sum += __shfl_xor_sync(all_lanes, sum, distance);
    return TwoNorm::of(__shfl_sync(all_lanes, sum, 0));
  }
};

/// The random words of `runs` runs of the lane from run `first` on.
template <int runs>
__device__ __forceinline__ void draw(const QsgdLayout& layout, std::int64_t begin, int first,
                                     std::uint32_t (&words)[runs][4]) {
  if (layout.stochastic) {
    std::uint64_t indices[runs];
#pragma unroll
    for (int run = 0; run < runs; ++run) {
      indices[run] = static_cast<std::uint64_t>(begin + run_begin(first + run)) / 4;
    }
    return philox_blocks(layout.stream, indices, words);
  }
#pragma unroll
  for (int run = 0; run < runs; ++run) {
#pragma unroll
    for (int j = 0; j < 4; ++j) words[run][j] = half_draw;
  }
}

__device__ __forceinline__ void put_bucket(std::uint8_t* to, int size, bool aligned,
                                           const std::uint32_t (&codes)[bucket_runs]) {
  if (aligned && size == warp_bucket) {
#pragma unroll
    for (int run = 0; run < bucket_runs; ++run) *reinterpret_cast<std::uint32_t*>(to + run_begin(run)) = codes[run];
    return;
  }
#pragma unroll
  for (int run = 0; run < bucket_runs; ++run) put_codes(to, run_begin(run), size, codes[run]);
}

/// A vector on its way to a frame.
template <class Source>
struct BucketsPart {
  Source source;
  QsgdLayout layout;
  std::uint8_t* frame;
};

template <class Norm, class Source>
__global__ void __launch_bounds__(block_threads, 3)
    encode_buckets(const __grid_constant__ PartTable<BucketsPart<Source>> table) {
  const BucketsPart<Source>& own = table.own();
  const QsgdLayout& layout = own.layout;
  const bool aligned = reinterpret_cast<std::uintptr_t>(own.frame) % 4 == 0;
  const std::int64_t stride = static_cast<std::int64_t>(table.blocks_each) * tree_warps;
  // All warps of a block go round as often, some with an empty bucket, so that lanes need not find together again.
  for (std::int64_t first = table.block() * tree_warps; first < layout.buckets(); first += stride) {
    const std::int64_t bucket = first + threadIdx.x / warp_lanes;
    const std::int64_t begin = bucket * warp_bucket;
    const std::int64_t rest = layout.count - begin;
    const int size = static_cast<int>(rest < 0 ? 0 : rest < warp_bucket ? rest : warp_bucket);
    BucketValues x;
    own.source.load(layout, begin, size, x);
    const float norm = BucketNorm<Norm>::of(x);
    if (size > 0 && threadIdx.x % warp_lanes == 0) put(own.frame + 4 * bucket, norm);
    std::uint32_t codes[bucket_runs] = {};
    if (rounds_quickly(norm, x)) {
      const QuickRounding rounding(norm, layout.levels);
#pragma unroll
      for (int run = 0; run < bucket_runs; run += Source::drawn_at_once) {
        std::uint32_t words[Source::drawn_at_once][4];
        draw(layout, begin, run, words);
#pragma unroll
        for (int k = 0; k < Source::drawn_at_once; ++k) codes[run + k] = rounding.codes(x[run + k], words[k]);
      }
    } else {
#pragma unroll 1
      for (int run = 0; run < bucket_runs; ++run) {
        std::uint32_t words[1][4];
        draw(layout, begin, run, words);
        const std::uint32_t next = codes_by_rule(x[0], norm, layout.levels, words[0]);
        move_up(x, x[0]);
#pragma unroll
        for (int other = 0; other + 1 < bucket_runs; ++other) codes[other] = codes[other + 1];
        codes[bucket_runs - 1] = next;
      }
    }
    put_bucket(own.frame + layout.header_bytes + begin, size, aligned, codes);
  }
}

}  // namespace trigram::cuda
