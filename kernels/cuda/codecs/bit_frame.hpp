// How frames of one bit an element are read.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace trigram::cuda {

/// The bits of a frame; those of at most eight neighbours, of one byte, are read at once.
struct BitFrame {
  const std::uint8_t* bits;

  template <int N>
  struct Codes {
    std::uint8_t byte;
  };
  template <int N>
  __device__ __forceinline__ void load(std::int64_t i, Codes<N>& codes) const {
    codes.byte = bits[i / 8];
  }
};

}  // namespace trigram::cuda
