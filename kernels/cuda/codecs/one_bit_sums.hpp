// Sums of at most eight one_bit frames, looked up: the signs that an element has in them name one of 256 sums.
#pragma once

#include "kernels/codecs/one_bit.hpp"
#include "kernels/cuda/codecs/codec.hpp"
#include "kernels/cuda/tree_sum.hpp"

namespace trigram::cuda {

/// Eight words of which bit b of byte i of word f becomes bit f of byte i of word b.
__device__ __forceinline__ void transpose_bits(std::uint32_t (&words)[8]) {
  constexpr std::uint32_t masks[] = {0x55555555U, 0x33333333U, 0x0f0f0f0fU};
#pragma unroll
  for (int level = 2; level >= 0; --level) {
    const int distance = 1 << level;
    const std::uint32_t mask = masks[level];
#pragma unroll
    for (int w = 0; w < 8; ++w) {
      if ((w & distance) != 0) continue;
      const std::uint32_t low = words[w];
      const std::uint32_t high = words[w + distance];
      words[w] = (low & mask) | (high << distance & ~mask);
      words[w + distance] = (low >> distance & mask) | (high & ~mask);
    }
  }
}

/// scale·Σ frames, which is written nowhere. Frames lie at multiples of four bytes. A warp shares the indices of 32
/// rows of 32 elements; each lane has all sums in a bank of its own.
struct TabledSums {
  static constexpr int most_frames = 8;
  static constexpr int sums = 1 << most_frames;
  FrameTable table;
  float factor;

  /// All threads of the block must call before the first sum.
  __device__ __forceinline__ void begin() const {
    static_assert(sums == block_threads);
    float sum = 0.0F;
    for (int f = 0; f < table.count; ++f) {
      const std::uint32_t scale = scalar::bits_of(load<float>(table.frames[f]));
      sum += one_bit_value(scale, threadIdx.x, static_cast<std::uint32_t>(f));
    }
    const float value = factor * sum;
#pragma unroll
    for (unsigned lane = 0; lane < warp_lanes; ++lane) {
      // Threads begin at different lanes, so that they meet in no bank.
      values()[threadIdx.x * warp_lanes + (lane + threadIdx.x) % warp_lanes] = value;
    }
    __syncthreads();
  }

  /// Must be called by all lanes before the first value of the 1024 elements from `first` on.
  __device__ __forceinline__ void begin_batch(std::int64_t first, std::int64_t count, bool whole) const {
    const std::int64_t own = first + static_cast<std::int64_t>(threadIdx.x % warp_lanes) * warp_lanes;
    std::uint32_t words[most_frames] = {};
    if (whole) {
#pragma unroll
      for (int f = 0; f < most_frames; ++f) {
        const std::uint8_t* from = table.frames[f] + OneBitModel::header_bytes + own / 8;
        words[f] = f < table.count ? *reinterpret_cast<const std::uint32_t*>(from) : 0U;
      }
    } else {
#pragma unroll 1
      for (int f = 0; f < most_frames; ++f) {
        const std::uint32_t last = f < table.count ? word_at(table.frames[f], own, count) : 0U;
#pragma unroll
        for (int w = 0; w + 1 < most_frames; ++w) words[w] = words[w + 1];  // so that all keep their registers
        words[most_frames - 1] = last;
      }
    }
    transpose_bits(words);
    __syncwarp();  // the batch before has been read
    auto* to = reinterpret_cast<uint4*>(indices() + 8 * threadIdx.x);
    to[0] = {words[0], words[1], words[2], words[3]};
    to[1] = {words[4], words[5], words[6], words[7]};
    __syncwarp();
  }

  /// The sum of the lane's element in a row.
  __device__ __forceinline__ float value(std::int64_t, int row) const {
    const unsigned lane = threadIdx.x % warp_lanes;
    const unsigned warp = threadIdx.x / warp_lanes;
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(indices() + 8 * warp * warp_lanes);
    const unsigned index = bytes[4 * (lane % 8) + lane / 8 + 32 * static_cast<unsigned>(row)];
    return values()[index * warp_lanes + lane];
  }

 private:
  static __device__ __forceinline__ float* values() {
    __shared__ float all[sums * warp_lanes];
    return all;
  }
  static __device__ __forceinline__ std::uint32_t* indices() {
    __shared__ uint4 all[2 * block_threads];
    return reinterpret_cast<std::uint32_t*>(all);
  }
  /// The signs of 32 elements from `begin` on; zeros where the frame has ended.
  static __device__ __forceinline__ std::uint32_t word_at(const std::uint8_t* frame, std::int64_t begin,
                                                          std::int64_t count) {
    const std::uint8_t* from = frame + OneBitModel::header_bytes + begin / 8;
    std::uint32_t word = 0;
    for (std::int64_t i = begin; i < begin + warp_lanes && i < count; i += 8) {
      word |= static_cast<std::uint32_t>(from[(i - begin) / 8]) << static_cast<unsigned>(i - begin);
    }
    return word;
  }
};

}  // namespace trigram::cuda
