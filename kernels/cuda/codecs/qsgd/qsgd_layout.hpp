// Where qsgd's norms and codes lie, for all of its kernels.
#pragma once

#include "kernels/codecs/qsgd.hpp"
#include "kernels/cuda/bytes.hpp"
#include "kernels/cuda/runtime/launch.hpp"
#include "kernels/philox.hpp"

namespace trigram::cuda {

/// A frame's form, and how values are rounded into it.
struct QsgdLayout {
  std::int64_t count = 0, bucket = 1, header_bytes = 0;
  int levels = 1, width = 8;
  bool stochastic = true;
  int bucket_shift = -1;  ///< of buckets that are a power of two
  PhiloxStream stream;

  TRIGRAM_RULE std::int64_t buckets() const { return header_bytes / 4; }

  __device__ __forceinline__ std::int64_t bucket_of(std::int64_t i) const {
    if (bucket_shift >= 0) return i >> bucket_shift;
    // 32-bit division where it suffices: it is several times as fast.
    constexpr std::int64_t small = std::int64_t{1} << 32;
    return i < small && bucket < small ? static_cast<std::uint32_t>(i) / static_cast<std::uint32_t>(bucket)
                                       : i / bucket;
  }
  __device__ __forceinline__ float norm(const std::uint8_t* frame, std::int64_t index) const {
    return load<float>(frame + 4 * index);
  }
};

}  // namespace trigram::cuda
