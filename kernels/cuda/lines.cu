// Norms of rows and columns of matrices on device memory, a warp a line, and products and quotients by them, a warp a
// row.
#include "kernels/cuda/warp_rows.hpp"
#include "kernels/lines.hpp"

namespace trigram {
namespace cuda {
namespace {

__global__ void __launch_bounds__(block_threads)
    norms_of_lines(const float* values, const __grid_constant__ LineLayout layout, float* norms) {
  for (std::int64_t line = first_row(); line < layout.count; line += row_step()) {
    const float* const first = values + line * layout.step;
    TreeSum sum;
    for (std::int64_t begin = 0; begin < layout.length; begin += scalar::tree_block) {
      const std::int64_t rest = layout.length - begin;
      sum.add(tree_block_sum(rest < scalar::tree_block ? rest : scalar::tree_block, [&](std::int64_t i) {
        const auto value = static_cast<double>(first[(begin + i) * layout.stride]);
        return value * value;
      }));
    }
    if (threadIdx.x % warp_lanes == 0) norms[line] = norm_of(sum.total());
  }
}

struct Product {
  static __device__ __forceinline__ float of(float factor, float value) { return factor * value; }
};
struct Quotient {
  static __device__ __forceinline__ float of(float divisor, float value) { return value / divisor; }
};

/// Of the factors, one belongs to all of a row, or to all of a column.
template <class Combine>
__global__ void __launch_bounds__(block_threads)
    combine_with_lines(float* values, std::int64_t rows, std::int64_t columns, bool by_rows, const float* factors) {
  for (std::int64_t row = first_row(); row < rows; row += row_step()) {
    float* const of_row = values + row * columns;
    for (std::int64_t i = threadIdx.x % warp_lanes; i < columns; i += warp_lanes)
      of_row[i] = Combine::of(factors[by_rows ? row : i], of_row[i]);
  }
}

template <class Combine>
void combine(const char* operation, const CudaKernels& kernels, Lines lines, const Buffer& factors,
             const Buffer& matrix) {
  const bool by_rows = lines == Lines::rows;
  const std::int64_t other = matrix.count() / factors.count();
  const std::int64_t rows = by_rows ? factors.count() : other, columns = by_rows ? other : factors.count();
  launch(operation, kernels, combine_with_lines<Combine>, Work{rows, tree_warps}, block_threads, matrix.data<float>(),
         rows, columns, by_rows, factors.data<float>());
}

}  // namespace
}  // namespace cuda

void CudaKernels::norms(Lines lines, Buffer matrix, Buffer norms) {
  const LineLayout layout(lines, norms.count(), matrix.count());
  cuda::launch("norms", *this, cuda::norms_of_lines, cuda::Work{layout.count, cuda::tree_warps}, cuda::block_threads,
               matrix.data<float>(), layout, norms.data<float>());
}

void CudaKernels::multiply_lines(Lines lines, Buffer factors, Buffer matrix) {
  cuda::combine<cuda::Product>("multiply_lines", *this, lines, factors, matrix);
}

void CudaKernels::divide_lines(Lines lines, Buffer divisors, Buffer matrix) {
  cuda::combine<cuda::Quotient>("divide_lines", *this, lines, divisors, matrix);
}

}  // namespace trigram
