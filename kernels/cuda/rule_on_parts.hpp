// A rule over any number of tensors: addresses travel as an argument, in as few launches as they fit.
#pragma once

#include <span>

#include "kernels/cuda/groups.hpp"
#include "kernels/rule.hpp"

namespace trigram::cuda {

/// What fits, with the rest, into the 4 KiB that all arguments of a kernel may take.
inline constexpr int most_tensors = 80;
/// Elements of a tile, which a block does at once.
inline constexpr int tile_groups = 4;
inline constexpr std::int64_t tile = static_cast<std::int64_t>(block_threads) * tile_groups * 4;

/// Tensors of up to four arrays; tiles of all are counted through, and first_tile[t] is where those of t begin.
struct Tensors {
  float* arrays[4][most_tensors];
  std::int64_t counts[most_tensors];
  std::int32_t first_tile[most_tensors + 1];
  bool takes_second[most_tensors];
  bool wide[most_tensors];
  int count = 0;
};

/// The tensor that `tile` belongs to: the last one that begins no later.
__device__ __forceinline__ int tensor_of(const Tensors& tensors, std::int32_t index) {
  int low = 0;
  int high = tensors.count;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    (tensors.first_tile[middle] <= index ? low : high) = middle;
  }
  return low;
}

template <class Rule>
inline constexpr int arrays_of = static_cast<int>(TakenBy<Rule>::operands.size());

template <int N, class Rule>
__device__ __forceinline__ void load(const Tensors& tensors, int tensor, std::int64_t i,
                                     float (&held)[arrays_of<Rule>][N]) {
#pragma unroll
  for (int a = 0; a < arrays_of<Rule>; ++a) read<N>(tensors.arrays[a][tensor] + i, held[a]);
}
template <int N, class Rule>
__device__ __forceinline__ void finish(const Tensors& tensors, int tensor, std::int64_t i, const Rule& first,
                                       const Rule& second, float (&held)[arrays_of<Rule>][N]) {
  const bool takes_second = tensors.takes_second[tensor];
#pragma unroll
  for (int j = 0; j < N; ++j) {
    float element[arrays_of<Rule>];
#pragma unroll
    for (int a = 0; a < arrays_of<Rule>; ++a) element[a] = held[a][j];
    call_rule(takes_second ? second : first, element);
#pragma unroll
    for (int a = 0; a < arrays_of<Rule>; ++a) held[a][j] = element[a];
  }
#pragma unroll
  for (int a = 0; a < arrays_of<Rule>; ++a) {
    if (changes<Rule>(a)) write<N>(held[a], tensors.arrays[a][tensor] + i);
  }
}

template <class Rule>
__global__ void __launch_bounds__(block_threads)
    step_tensors(const __grid_constant__ Tensors tensors, const __grid_constant__ Rule first,
                 const __grid_constant__ Rule second) {
  for (std::int32_t index = blockIdx.x; index < tensors.first_tile[tensors.count]; index += gridDim.x) {
    const int tensor = tensor_of(tensors, index);
    const std::int64_t begin = (index - tensors.first_tile[tensor]) * tile;
    const std::int64_t rest = tensors.counts[tensor] - begin;
    if (tensors.wide[tensor] && rest >= tile) {
      float held[tile_groups][arrays_of<Rule>][4];
      const std::int64_t begin_of_thread = begin + 4 * threadIdx.x;
#pragma unroll
      for (int k = 0; k < tile_groups; ++k)
        load<4, Rule>(tensors, tensor, begin_of_thread + 4 * k * block_threads, held[k]);
#pragma unroll
      for (int k = 0; k < tile_groups; ++k)
        finish<4>(tensors, tensor, begin_of_thread + 4 * k * block_threads, first, second, held[k]);
      continue;
    }
    const std::int64_t end = begin + (rest < tile ? rest : tile);
#pragma unroll 4
    for (std::int64_t i = begin + threadIdx.x; i < end; i += block_threads) {
      float held[arrays_of<Rule>][1];
      load<1, Rule>(tensors, tensor, i, held);
      finish<1>(tensors, tensor, i, first, second, held);
    }
  }
}

inline void add_part(Tensors& tensors, const trigram::RulePart& part) {
  const int t = tensors.count++;
  const std::int64_t count = part.operands.back().count();
  tensors.wide[t] = true;
  for (std::size_t a = 0; a < part.operands.size(); ++a) {
    tensors.arrays[a][t] = part.operands[a].data<float>();
    tensors.wide[t] = tensors.wide[t] && is_aligned(tensors.arrays[a][t], 16);
  }
  tensors.counts[t] = count;
  tensors.takes_second[t] = part.takes_second;
  tensors.first_tile[t + 1] = tensors.first_tile[t] + static_cast<std::int32_t>((count + tile - 1) / tile);
}

/// No part is empty.
template <class Rule>
void run_rule_on_parts(const char* operation, const CudaKernels& kernels, const Rule& first, const Rule& second,
                       std::span<const trigram::RulePart> parts) {
  static_assert(sizeof(Tensors) + 2 * sizeof(Rule) <= 4000);
  Tensors tensors;
  tensors.first_tile[0] = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    add_part(tensors, parts[i]);
    if (tensors.count < most_tensors && i + 1 < parts.size()) continue;
    launch(operation, kernels, step_tensors<Rule>, Work{tensors.first_tile[tensors.count], 1}, block_threads, tensors,
           first, second);
    tensors.count = 0;
  }
}

}  // namespace trigram::cuda
