// Loops over elements: groups of them in 16-byte accesses, several groups in flight, and what is left one by one.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "kernels/cuda/runtime/launch.hpp"

namespace trigram::cuda {

/// What one access of 16 bytes holds.
template <class T>
struct Pack {
  static constexpr int count = 16 / sizeof(T);
};

/// A word that is accessed at once, of 16, 8 or 4 bytes, and what it holds.
template <class T, class Word>
struct Packed {
  static constexpr int count = sizeof(Word) / sizeof(T);
  T elements[count];
};
/// The widest word that N elements of T fill, by one or by several; void where none does.
template <class T, int N>
using WordOf = std::conditional_t<
    N * sizeof(T) % 16 == 0, uint4,
    std::conditional_t<N * sizeof(T) == 8, uint2, std::conditional_t<N * sizeof(T) == 4, std::uint32_t, void>>>;

/// to[0 … N) = from[0 … N), in words where N elements fill them; then `from` must be aligned for those.
template <int N, class T>
__device__ __forceinline__ void read(const T* from, T (&to)[N]) {
  using Word = WordOf<T, N>;
  if constexpr (N > 1 && !std::is_void_v<Word>) {
    constexpr int a_word = Packed<T, Word>::count;
#pragma unroll
    for (int w = 0; w < N / a_word; ++w) {
      const auto packed = std::bit_cast<Packed<T, Word>>(reinterpret_cast<const Word*>(from)[w]);
#pragma unroll
      for (int i = 0; i < a_word; ++i) to[w * a_word + i] = packed.elements[i];
    }
  } else {
#pragma unroll
    for (int i = 0; i < N; ++i) to[i] = from[i];
  }
}

/// to[0 … N) = from[0 … N), likewise.
template <int N, class T>
__device__ __forceinline__ void write(const T (&from)[N], T* to) {
  using Word = WordOf<T, N>;
  if constexpr (N > 1 && !std::is_void_v<Word>) {
    constexpr int a_word = Packed<T, Word>::count;
#pragma unroll
    for (int w = 0; w < N / a_word; ++w) {
      Packed<T, Word> packed;
#pragma unroll
      for (int i = 0; i < a_word; ++i) packed.elements[i] = from[w * a_word + i];
      reinterpret_cast<Word*>(to)[w] = std::bit_cast<Word>(packed);
    }
  } else {
#pragma unroll
    for (int i = 0; i < N; ++i) to[i] = from[i];
  }
}

/// Groups that a thread has in flight, of a rule that does not say `groups` itself.
inline constexpr int groups_in_flight = 4;
template <class Rule>
constexpr int groups_of() {
  if constexpr (requires { Rule::groups; }) {
    return Rule::groups;
  } else {
    return groups_in_flight;
  }
}
/// Groups that a block has in flight.
template <class Rule>
inline constexpr std::int64_t tile_of = static_cast<std::int64_t>(block_threads) * groups_of<Rule>();

/// Calls body(what a thread works with): the rule, or what it makes of itself once, as from the header of a frame,
/// which rule.prepared() returns, or rule.with_prepared(body) chooses.
template <class Rule, class Body>
__device__ __forceinline__ void with_prepared(const Rule& rule, const Body& body) {
  if constexpr (requires { rule.with_prepared(body); }) {
    rule.with_prepared(body);
  } else if constexpr (requires { rule.prepared(); }) {
    body(rule.prepared());
  } else {
    body(rule);
  }
}
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
/// This is block `block` of `blocks`, of block_threads threads each.
template <int N, class Rule>
__device__ __forceinline__ void go_over_prepared(const Rule& rule, std::int64_t count, std::int64_t block,
                                                 std::int64_t blocks) {
  constexpr int in_flight = groups_of<Rule>();
  const std::int64_t groups = count / N;
  const std::int64_t step = blocks * tile_of<Rule>;
  for (std::int64_t begin = block * tile_of<Rule>; begin < groups; begin += step) {
    typename Rule::template Held<N> held[in_flight];
    const std::int64_t first = begin + threadIdx.x;
    if (begin + tile_of<Rule> <= groups) {
#pragma unroll
      for (int k = 0; k < in_flight; ++k) rule.load((first + k * std::int64_t{block_threads}) * N, held[k]);
#pragma unroll
      for (int k = 0; k < in_flight; ++k) rule.finish((first + k * std::int64_t{block_threads}) * N, held[k]);
    } else {
      for (std::int64_t group = first; group < groups; group += block_threads) {
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
template <int N, class Given>
__device__ __forceinline__ void go_over(const Given& given, std::int64_t count, std::int64_t block,
                                        std::int64_t blocks) {
  with_prepared(given, [&](const auto& rule) { go_over_prepared<N>(rule, count, block, blocks); });
}

template <int N, class Rule>
__global__ void __launch_bounds__(block_threads) over_groups(const __grid_constant__ Rule rule, std::int64_t count) {
  go_over<N>(rule, count, blockIdx.x, gridDim.x);
}

/// Runs a rule over `count` elements: by groups of Rule::width where `wide` says that addresses allow it, else one by
/// one.
template <class Rule>
void run_over(const char* operation, const CudaKernels& kernels, const Rule& rule, std::int64_t count, bool wide) {
  const auto work = [&](std::int64_t width) { return Work{count / width, tile_of<Rule>}; };
  if (wide) {
    launch(operation, kernels, over_groups<Rule::width, Rule>, work(Rule::width), block_threads, rule, count);
  } else {
    launch(operation, kernels, over_groups<1, Rule>, work(1), block_threads, rule, count);
  }
}

/// Whether all addresses allow 16-byte accesses.
template <class... Addresses>
bool all_wide(const Addresses*... addresses) {
  return (is_aligned(addresses, 16) && ...);
}

}  // namespace trigram::cuda
