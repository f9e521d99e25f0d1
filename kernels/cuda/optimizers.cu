// Fused optimizer steps over any number of tensors: addresses travel as an argument, in as few launches as they fit.
#include <array>

#include "kernels/cuda/groups.hpp"
#include "kernels/scalar.hpp"

namespace trigram {
namespace cuda {
namespace {

/// What fits, with the rest, into the 4 KiB that all arguments of a kernel may take.
constexpr int most_tensors = 80;
/// Elements of a tile, which a block does at once.
constexpr int tile_groups = 4;
constexpr std::int64_t tile = static_cast<std::int64_t>(block_threads) * tile_groups * 4;

/// Tensors of up to four arrays; tiles of all are counted through, and first_tile[t] is where those of t begin.
struct Tensors {
  float* arrays[4][most_tensors];
  std::int64_t counts[most_tensors];
  std::int32_t first_tile[most_tensors + 1];
  bool decays[most_tensors];
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

/// Rules have `arrays` (how many they read), `written` (a bit for each that they write), and step(values of one
/// element, whether weight decay applies).
template <int N, class Rule>
__device__ __forceinline__ void load(const Tensors& tensors, int tensor, std::int64_t i,
                                     float (&held)[Rule::arrays][N]) {
#pragma unroll
  for (int a = 0; a < Rule::arrays; ++a) read<N>(tensors.arrays[a][tensor] + i, held[a]);
}
template <int N, class Rule>
__device__ __forceinline__ void finish(const Tensors& tensors, int tensor, std::int64_t i, const Rule& rule,
                                       float (&held)[Rule::arrays][N]) {
  const bool decays = tensors.decays[tensor];
#pragma unroll
  for (int j = 0; j < N; ++j) {
    float element[Rule::arrays];
#pragma unroll
    for (int a = 0; a < Rule::arrays; ++a) element[a] = held[a][j];
    rule.step(element, decays);
#pragma unroll
    for (int a = 0; a < Rule::arrays; ++a) held[a][j] = element[a];
  }
#pragma unroll
  for (int a = 0; a < Rule::arrays; ++a) {
    if ((Rule::written >> a & 1) != 0) write<N>(held[a], tensors.arrays[a][tensor] + i);
  }
}

template <class Rule>
__global__ void __launch_bounds__(block_threads)
    step_tensors(const __grid_constant__ Tensors tensors, const __grid_constant__ Rule rule) {
  for (std::int32_t index = blockIdx.x; index < tensors.first_tile[tensors.count]; index += gridDim.x) {
    const int tensor = tensor_of(tensors, index);
    const std::int64_t begin = (index - tensors.first_tile[tensor]) * tile;
    const std::int64_t rest = tensors.counts[tensor] - begin;
    if (tensors.wide[tensor] && rest >= tile) {
      float held[tile_groups][Rule::arrays][4];
      const std::int64_t first = begin + 4 * threadIdx.x;
#pragma unroll
      for (int k = 0; k < tile_groups; ++k) load<4, Rule>(tensors, tensor, first + 4 * k * block_threads, held[k]);
#pragma unroll
      for (int k = 0; k < tile_groups; ++k) finish<4>(tensors, tensor, first + 4 * k * block_threads, rule, held[k]);
      continue;
    }
    const std::int64_t end = begin + (rest < tile ? rest : tile);
#pragma unroll 4
    for (std::int64_t i = begin + threadIdx.x; i < end; i += block_threads) {
      float held[Rule::arrays][1];
      load<1, Rule>(tensors, tensor, i, held);
      finish<1>(tensors, tensor, i, rule, held);
    }
  }
}

/// Weights and gradients.
struct SgdRule {
  static constexpr int arrays = 2;
  static constexpr int written = 0b01;
  SgdConstants with_decay, without_decay;

  __device__ __forceinline__ void step(float* element, bool decays) const {
    scalar::sgd(element[0], element[1], decays ? with_decay : without_decay);
  }
};

/// Weights, gradients and velocities.
struct MomentumRule {
  static constexpr int arrays = 3;
  static constexpr int written = 0b101;
  SgdConstants with_decay, without_decay;

  __device__ __forceinline__ void step(float* element, bool decays) const {
    scalar::sgd(element[0], element[1], element[2], decays ? with_decay : without_decay);
  }
};

/// Weights, gradients, first and second moments.
struct AdamRule {
  static constexpr int arrays = 4;
  static constexpr int written = 0b1101;
  scalar::AdamFactors with_decay, without_decay;

  __device__ __forceinline__ void step(float* element, bool decays) const {
    scalar::adam(element[0], element[1], element[2], element[3], decays ? with_decay : without_decay);
  }
};

void add_tensor(Tensors& tensors, std::span<const Buffer> arrays, bool decays) {
  const int t = tensors.count++;
  const std::int64_t count = arrays[0].count();
  tensors.wide[t] = true;
  for (std::size_t a = 0; a < arrays.size(); ++a) {
    tensors.arrays[a][t] = arrays[a].data<float>();
    tensors.wide[t] = tensors.wide[t] && is_aligned(tensors.arrays[a][t], 16);
  }
  tensors.counts[t] = count;
  tensors.decays[t] = decays;
  tensors.first_tile[t + 1] = tensors.first_tile[t] + static_cast<std::int32_t>((count + tile - 1) / tile);
}

/// `arrays_of(tensor)` gives the buffers of one tensor, weights first.
template <class Tensor, class Rule, class ArraysOf>
void step_all(const char* operation, const CudaKernels& kernels, std::span<const Tensor> all, const Rule& rule,
              const ArraysOf& arrays_of) {
  static_assert(sizeof(Tensors) + sizeof(Rule) <= 4000);
  Tensors tensors;
  tensors.first_tile[0] = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].weights.count() > 0) add_tensor(tensors, arrays_of(all[i]), all[i].decays);
    const bool full = tensors.count == most_tensors || i + 1 == all.size();
    if (!full || tensors.count == 0) continue;
    launch(operation, kernels, step_tensors<Rule>, Work{tensors.first_tile[tensors.count], 1}, block_threads, tensors,
           rule);
    tensors.count = 0;
  }
}

}  // namespace
}  // namespace cuda

void CudaKernels::sgd(std::span<const SgdTensor> tensors, const SgdConstants& constants) {
  SgdConstants without_decay = constants;
  without_decay.weight_decay = 0.0F;
  if (constants.momentum == 0.0F) {
    cuda::step_all("sgd", *this, tensors, cuda::SgdRule{constants, without_decay}, [](const SgdTensor& tensor) {
      return std::array{tensor.weights, tensor.gradients};
    });
    return;
  }
  cuda::step_all("sgd", *this, tensors, cuda::MomentumRule{constants, without_decay}, [](const SgdTensor& tensor) {
    return std::array{tensor.weights, tensor.gradients, tensor.velocity};
  });
}

void CudaKernels::adam(std::span<const AdamTensor> tensors, const AdamConstants& constants) {
  AdamConstants without_decay = constants;
  without_decay.weight_decay = 0.0F;
  const cuda::AdamRule rule{scalar::adam_factors(constants), scalar::adam_factors(without_decay)};
  cuda::step_all("adam", *this, tensors, rule, [](const AdamTensor& tensor) {
    return std::array{tensor.weights, tensor.gradients, tensor.first, tensor.second};
  });
}

}  // namespace trigram
