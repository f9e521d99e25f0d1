// Frames lie at any address: reading and writing values of several bytes there.
#pragma once

#include <bit>
#include <cstdint>

#include "kernels/cuda/launch.hpp"

namespace trigram::cuda {

/// The bytes of a T.
template <class T>
struct BytesOf {
  std::uint8_t bytes[sizeof(T)];
};

template <class T>
__device__ __forceinline__ bool aligned_for(const std::uint8_t* address) {
  return reinterpret_cast<std::uintptr_t>(address) % sizeof(T) == 0;
}

template <class T>
__device__ __forceinline__ T load(const std::uint8_t* from) {
  if (aligned_for<T>(from)) return *reinterpret_cast<const T*>(from);
  BytesOf<T> parts;
#pragma unroll
  for (unsigned i = 0; i < sizeof(T); ++i) parts.bytes[i] = from[i];
  return std::bit_cast<T>(parts);
}

template <class T>
__device__ __forceinline__ void put(std::uint8_t* to, T value) {
  if (aligned_for<T>(to)) {
    *reinterpret_cast<T*>(to) = value;
    return;
  }
  const auto parts = std::bit_cast<BytesOf<T>>(value);
#pragma unroll
  for (unsigned i = 0; i < sizeof(T); ++i) to[i] = parts.bytes[i];
}

}  // namespace trigram::cuda
