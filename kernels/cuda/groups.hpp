// Loops over elements: groups of them in 16-byte accesses, several groups in flight, and what is left one by one.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "kernels/cuda/launch.hpp"

namespace trigram::cuda {

/// What one 16-byte access holds.
template <class T>
struct Pack {
  static constexpr int count = 16 / sizeof(T);
  T elements[count];
};

/// to[0 … N) = from[0 … N), in 16-byte accesses where N elements fill them; then `from` must be so aligned.
template <int N, class T>
__device__ __forceinline__ void read(const T* from, T (&to)[N]) {
  constexpr int a_pack = Pack<T>::count;
  if constexpr (N % a_pack == 0) {
#pragma unroll
    for (int p = 0; p < N / a_pack; ++p) {
      const auto pack = std::bit_cast<Pack<T>>(reinterpret_cast<const uint4*>(from)[p]);
#pragma unroll
      for (int i = 0; i < a_pack; ++i) to[p * a_pack + i] = pack.elements[i];
    }
  } else {
#pragma unroll
    for (int i = 0; i < N; ++i) to[i] = from[i];
  }
}

/// to[0 … N) = from[0 … N), likewise.
template <int N, class T>
__device__ __forceinline__ void write(const T (&from)[N], T* to) {
  constexpr int a_pack = Pack<T>::count;
  if constexpr (N % a_pack == 0) {
#pragma unroll
    for (int p = 0; p < N / a_pack; ++p) {
      Pack<T> pack;
#pragma unroll
      for (int i = 0; i < a_pack; ++i) pack.elements[i] = from[p * a_pack + i];
      reinterpret_cast<uint4*>(to)[p] = std::bit_cast<uint4>(pack);
    }
  } else {
#pragma unroll
    for (int i = 0; i < N; ++i) to[i] = from[i];
  }
}

/// Groups that a thread has in flight.
inline constexpr int groups_in_flight = 4;

/// What a thread works with: the rule, or what it makes of itself once, as from the header of a frame.
template <class Rule>
__device__ __forceinline__ auto prepared(const Rule& rule) {
  if constexpr (requires { rule.prepared(); }) {
    return rule.prepared();
  } else {
    return rule;
  }
}

/// For each element of `count`, by groups of N: rule.load(first element, held), then rule.finish(first element, held).
/// Loads of several groups are issued before any is finished. What is in no whole group goes one by one.
/// This is block `block` of `blocks`.
template <int N, class Given>
__device__ __forceinline__ void go_over(const Given& given, std::int64_t count, std::int64_t block,
                                        std::int64_t blocks) {
  const auto rule = prepared(given);
  using Rule = std::remove_const_t<decltype(rule)>;
  const std::int64_t groups = count / N;
  const std::int64_t tile = static_cast<std::int64_t>(blockDim.x) * groups_in_flight;
  const std::int64_t step = blocks * tile;
  for (std::int64_t begin = block * tile; begin < groups; begin += step) {
    typename Rule::template Held<N> held[groups_in_flight];
    const std::int64_t first = begin + threadIdx.x;
    if (begin + tile <= groups) {
#pragma unroll
      for (int k = 0; k < groups_in_flight; ++k) rule.load((first + k * blockDim.x) * N, held[k]);
#pragma unroll
      for (int k = 0; k < groups_in_flight; ++k) rule.finish((first + k * blockDim.x) * N, held[k]);
    } else {
      for (std::int64_t group = first; group < groups; group += blockDim.x) {
        rule.load(group * N, held[0]);
        rule.finish(group * N, held[0]);
      }
    }
  }
  const std::int64_t last = groups * N + threadIdx.x;
  if (N > 1 && block == blocks - 1 && last < count) {
    typename Rule::template Held<1> held;
    rule.load(last, held);
    rule.finish(last, held);
  }
}

template <int N, class Rule>
__global__ void __launch_bounds__(block_threads) over_groups(const __grid_constant__ Rule rule, std::int64_t count) {
  go_over<N>(rule, count, blockIdx.x, gridDim.x);
}

/// Runs a rule over `count` elements: by groups of Rule::width where `wide` says that addresses allow it, else one by
/// one.
template <class Rule>
void run_over(const char* operation, const CudaKernels& kernels, const Rule& rule, std::int64_t count, bool wide) {
  const auto blocks = [&](std::int64_t width) {
    return blocks_for(kernels, count / width, block_threads * groups_in_flight);
  };
  if (wide) {
    launch(operation, kernels, over_groups<Rule::width, Rule>, blocks(Rule::width), block_threads, rule, count);
  } else {
    launch(operation, kernels, over_groups<1, Rule>, blocks(1), block_threads, rule, count);
  }
}

/// Whether all addresses allow 16-byte accesses.
template <class... Addresses>
bool all_wide(const Addresses*... addresses) {
  return (is_aligned(addresses, 16) && ...);
}

}  // namespace trigram::cuda
