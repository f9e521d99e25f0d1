// Frames lie at any address: reading and writing values of several bytes there.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "kernels/cuda/runtime/launch.hpp"

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

/// Four bytes chosen of eight, those of `low` and above them those of `high`: nibble i of `selector`, lowest first,
/// says which is byte i; with its upper bit set, that byte's upper bit eight times.
template <std::uint32_t selector>
__device__ __forceinline__ std::uint32_t chosen_bytes(std::uint32_t low, std::uint32_t high) {
  std::uint32_t chosen = 0;
#ifdef __CUDA_ARCH__
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(chosen) : "r"(low), "r"(high), "n"(selector));
#else
  const std::uint64_t all = static_cast<std::uint64_t>(high) << 32U | low;
  for (unsigned i = 0; i < 4; ++i) {
    const std::uint32_t which = selector >> 4 * i & 15U;
    const auto byte = static_cast<std::uint32_t>(all >> 8 * (which & 7U)) & 0xffU;
    chosen |= (which < 8 ? byte : (byte >> 7U) * 0xffU) << 8 * i;
  }
#endif
  return chosen;
}

/// The upper bytes of four words, the first one lowest.
__device__ __forceinline__ std::uint32_t upper_bytes(std::uint32_t a, std::uint32_t b, std::uint32_t c,
                                                     std::uint32_t d) {
  return chosen_bytes<0x5410>(chosen_bytes<0x0073>(a, b), chosen_bytes<0x0073>(c, d));
}

/// 2^23 + byte `index` of a word: the byte is the last of the float.
template <unsigned index>
__device__ __forceinline__ float raised_byte(std::uint32_t word) {
  return std::bit_cast<float>(chosen_bytes<0x7440 | index>(word, 0x4b000000U));
}

/// Calls body(std::integral_constant<unsigned, i>()) for i = 0 … 3, for what needs a byte's index at compile time.
template <class Body>
__device__ __forceinline__ void for_each_byte(const Body& body) {
  body(std::integral_constant<unsigned, 0>());
  body(std::integral_constant<unsigned, 1>());
  body(std::integral_constant<unsigned, 2>());
  body(std::integral_constant<unsigned, 3>());
}

}  // namespace trigram::cuda
