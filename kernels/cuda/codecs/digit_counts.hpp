// How often each digit occurs among the numbers that share the digits above it, block by block and without atomics:
// every thread counts in bytes of its own.
#pragma once

#include "kernels/cuda/parts.hpp"
#include "kernels/scalar.hpp"

namespace trigram::cuda {

inline constexpr unsigned counting_threads = 128;
inline constexpr int counting_warps = counting_threads / warp_lanes;
inline constexpr int digits = 256;
inline constexpr int most_counted = 248;  ///< of a thread, before its bytes are added up; under 256
inline constexpr int counted_at_once = 8;

/// A digit of a magnitude's 31 bits, upper digits first.
struct Digit {
  int shift, bits;
};
inline constexpr int digit_passes = 4;
__device__ __forceinline__ Digit digit_of(int pass) { return pass < 3 ? Digit{23 - 8 * pass, 8} : Digit{0, 7}; }

/// What is known of the k-th largest magnitude.
struct Threshold {
  std::uint32_t magnitude;  ///< the digits known
  std::uint32_t known;      ///< the mask of them
  std::int64_t wanted;      ///< elements still wanted among those that share them
};

/// A vector whose k largest magnitudes are selected.
struct Selected {
  const float* values;
  std::uint8_t* frame;
  std::int64_t count, k;
};
using SelectedTable = PartTable<Selected>;

/// The elements of this block: [begin, end) of its vector. They begin where a warp's elements do, so that what a warp
/// reads lies in as few sectors of memory as hold it.
struct Share {
  std::int64_t begin, end;
};
__device__ __forceinline__ Share share_of(const SelectedTable& table) {
  const std::int64_t count = table.own().count;
  const std::int64_t warps = (count + warp_lanes - 1) / warp_lanes;
  const std::int64_t size = (warps + table.blocks_each - 1) / table.blocks_each * warp_lanes;
  const std::int64_t begin = size * table.block();
  return {begin < count ? begin : count, begin + size < count ? begin + size : count};
}

/// A byte for each digit and thread. Lanes lie in different banks, the four warps in the bytes of a word.
struct ByteCounts {
  std::uint32_t words[digits * warp_lanes];

  __device__ __forceinline__ std::uint8_t& of(unsigned digit) {
    const unsigned word = digit * warp_lanes + threadIdx.x % warp_lanes;
    return reinterpret_cast<std::uint8_t*>(words)[4 * word + threadIdx.x / warp_lanes];
  }
  __device__ __forceinline__ void clear() {
    for (unsigned i = threadIdx.x; i < digits * warp_lanes; i += counting_threads) words[i] = 0;
  }
  /// All bytes of a digit; threads begin at different words, so that they meet in no bank.
  __device__ __forceinline__ std::uint32_t sum(unsigned digit) const {
    std::uint32_t even = 0;
    std::uint32_t odd = 0;
    for (unsigned i = 0; i < warp_lanes; ++i) {
      const std::uint32_t word = words[digit * warp_lanes + (i + threadIdx.x) % warp_lanes];
      even += word & 0x00ff00ffU;
      odd += word >> 8U & 0x00ff00ffU;
    }
    const std::uint32_t pairs = even + odd;
    return (pairs & 0xffffU) + (pairs >> 16U);
  }
};

/// counts[block][digit] over the block's share of its vector, from the thresholds of all vectors.
__global__ void __launch_bounds__(counting_threads)
    count_digits(const __grid_constant__ SelectedTable table, const Threshold* thresholds, int pass,
                 std::uint32_t* counts) {
  static_assert(digits == 2 * counting_threads);
  __shared__ ByteCounts bytes;
  const float* values = table.own().values;
  const Threshold known = thresholds[table.place()];
  const Digit digit = digit_of(pass);
  const std::uint32_t mask = (1U << digit.bits) - 1U;
  const Share share = share_of(table);
  std::uint32_t totals[2] = {0, 0};
  bytes.clear();
  __syncthreads();
  for (std::int64_t begin = share.begin; begin < share.end; begin += most_counted * counting_threads) {
    for (int step = 0; step < most_counted; step += counted_at_once) {
      const std::int64_t first = begin + step * static_cast<std::int64_t>(counting_threads) + threadIdx.x;
      std::uint32_t sizes[counted_at_once];
#pragma unroll
      for (int j = 0; j < counted_at_once; ++j) {
        const std::int64_t i = first + j * static_cast<std::int64_t>(counting_threads);
        // A sign bit is in no magnitude: it matches nothing.
        sizes[j] = i < share.end ? scalar::ordered_magnitude(values[i]) : scalar::sign_mask;
      }
#pragma unroll
      for (int j = 0; j < counted_at_once; ++j) {
        const bool shares = (sizes[j] & (known.known | scalar::sign_mask)) == known.magnitude;
        if (shares) ++bytes.of(sizes[j] >> digit.shift & mask);
      }
    }
    __syncthreads();
    totals[0] += bytes.sum(threadIdx.x);
    totals[1] += bytes.sum(threadIdx.x + counting_threads);
    __syncthreads();
    bytes.clear();
    __syncthreads();
  }
  counts[blockIdx.x * digits + threadIdx.x] = totals[0];
  counts[blockIdx.x * digits + threadIdx.x + counting_threads] = totals[1];
}

/// Adds a digit to the threshold of each vector, from the counts of its blocks. A block of `digits` threads a vector.
__global__ void __launch_bounds__(digits)
    choose_digit(const std::uint32_t* counts, std::int64_t blocks_each, int pass, Threshold* thresholds) {
  __shared__ std::int64_t totals[digits];
  const std::uint32_t* own = counts + blockIdx.x * blocks_each * digits;
  std::int64_t total = 0;
#pragma unroll 8
  for (std::int64_t block = 0; block < blocks_each; ++block) total += own[block * digits + threadIdx.x];
  totals[threadIdx.x] = total;
  __syncthreads();
  if (threadIdx.x != 0) return;
  Threshold found = thresholds[blockIdx.x];
  int digit = digits - 1;
  for (; totals[digit] < found.wanted; --digit) found.wanted -= totals[digit];
  const Digit place = digit_of(pass);
  found.magnitude |= static_cast<std::uint32_t>(digit) << place.shift;
  found.known |= ((1U << place.bits) - 1U) << place.shift;
  thresholds[blockIdx.x] = found;
}

}  // namespace trigram::cuda
