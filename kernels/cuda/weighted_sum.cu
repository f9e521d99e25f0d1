// A weighted sum of many vectors in one pass; their addresses travel as an argument of the kernel.
#include "kernels/cuda/groups.hpp"
#include "kernels/element_types.hpp"

namespace trigram {
namespace cuda {
namespace {

/// As many terms as fit, with the rest, into the 4 KiB that all arguments may take.
constexpr int most_terms = 256;

struct Terms {
  const void* x[most_terms];
  float weights[most_terms];
  int count = 0;
};

/// y = Σ weights[i]·x[i], continued from `begun` where that is given.
template <int N, class From, class To>
__global__ void __launch_bounds__(block_threads)
    add_terms(const __grid_constant__ Terms terms, const float* begun, To* y, std::int64_t count) {
  const std::int64_t groups = count / N;
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t group = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; group < groups;
       group += stride) {
    float sums[N];
#pragma unroll
    for (int j = 0; j < N; ++j) sums[j] = 0.0F;
    if (begun != nullptr) read<N>(begun + group * N, sums);
#pragma unroll 4
    for (int i = 0; i < terms.count; ++i) {
      From x[N];
      read<N>(static_cast<const From*>(terms.x[i]) + group * N, x);
      const bool first = i == 0 && begun == nullptr;
#pragma unroll
      for (int j = 0; j < N; ++j) {
        const float term = terms.weights[i] * scalar::to_f32(x[j]);
        sums[j] = first ? term : sums[j] + term;
      }
    }
    To values[N];
#pragma unroll
    for (int j = 0; j < N; ++j) scalar::store(sums[j], values[j]);
    write<N>(values, y + group * N);
  }
}

/// All but the last group of terms add up in f32, so that f16 and bf16 round once.
template <class From, class To>
void add(const CudaKernels& kernels, const Terms& terms, const float* begun, To* y, std::int64_t count) {
  constexpr int width = Pack<From>::count;
  const std::int64_t whole = count - count % width;
  bool wide = all_wide(begun, y);
  for (int i = 0; i < terms.count; ++i) wide = wide && is_aligned(terms.x[i], 16);
  if (!wide) {
    const Work work{count, block_threads};
    return launch("weighted_sum", kernels, add_terms<1, From, To>, work, block_threads, terms, begun, y, count);
  }
  if (whole > 0) {
    const Work work{whole / width, block_threads};
    launch("weighted_sum", kernels, add_terms<width, From, To>, work, block_threads, terms, begun, y, whole);
  }
  if (whole == count) return;
  Terms rest = terms;
  for (int i = 0; i < rest.count; ++i) rest.x[i] = static_cast<const From*>(rest.x[i]) + whole;
  launch("weighted_sum", kernels, add_terms<1, From, To>, 1, warp_lanes, rest, begun == nullptr ? begun : begun + whole,
         y + whole, count - whole);
}

}  // namespace
}  // namespace cuda

void CudaKernels::weighted_sum(std::span<const Buffer> x, std::span<const float> weights, Buffer y) {
  const bool in_parts = x.size() > cuda::most_terms;
  auto* sums = in_parts ? static_cast<float*>(scratch(static_cast<std::size_t>(y.count()) * sizeof(float))) : nullptr;
  with_floating(y.dtype(), [&]<class T>(std::type_identity<T>) {
    for (std::size_t begin = 0; begin == 0 || begin < x.size(); begin += cuda::most_terms) {
      cuda::Terms terms;
      for (std::size_t i = begin; i < x.size() && terms.count < cuda::most_terms; ++i, ++terms.count) {
        terms.x[terms.count] = x[i].template data<T>();
        terms.weights[terms.count] = weights[i];
      }
      const float* begun = begin == 0 ? nullptr : sums;
      if (begin + cuda::most_terms < x.size()) {
        cuda::add<T>(*this, terms, begun, sums, y.count());
      } else {
        cuda::add<T>(*this, terms, begun, y.template data<T>(), y.count());
      }
    }
  });
}

}  // namespace trigram
