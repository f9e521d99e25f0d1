// The matrix product: by cuBLAS where the machine has it, else by tiles of 64 × 64.
#include <array>

#include "core/device/rule.hpp"
#include "kernels/cuda/runtime/cublas.hpp"
#include "kernels/cuda/runtime/launch.hpp"

namespace trigram {
namespace cuda {
namespace {

constexpr int side = 64;   // of a tile of C
constexpr int depth = 16;  // of a step through k
constexpr int each = 4;    // a thread's rows and columns of the tile

/// A row-major matrix, transposed or not, read as 0 outside.
struct Operand {
  const float* values;
  std::int64_t rows, columns;
  bool transposed;

  __device__ __forceinline__ float at(std::int64_t row, std::int64_t column) const {
    if (row >= rows || column >= columns) return 0.0F;
    return transposed ? values[column * rows + row] : values[row * columns + column];
  }
};

/// One tile of C for each block of 256 threads; k in order.
__global__ void __launch_bounds__(block_threads)
    multiply_tiles(Operand a, Operand b, float alpha, float beta, float* c, std::int64_t tiles_across) {
  __shared__ float part_a[depth][side];
  __shared__ float part_b[depth][side];
  const std::int64_t row = blockIdx.x / tiles_across * side;
  const std::int64_t column = blockIdx.x % tiles_across * side;
  const int thread = static_cast<int>(threadIdx.x);
  const int down = thread / 16 * each;
  const int across = thread % 16 * each;
  float sums[each][each] = {};
  for (std::int64_t begin = 0; begin < a.columns; begin += depth) {
    for (int i = thread; i < side * depth; i += static_cast<int>(block_threads)) {
      // The faster index runs along memory.
      const int a_row = a.transposed ? i % side : i / depth;
      const int a_depth = a.transposed ? i / side : i % depth;
      part_a[a_depth][a_row] = a.at(row + a_row, begin + a_depth);
      const int b_column = b.transposed ? i / depth : i % side;
      const int b_depth = b.transposed ? i % depth : i / side;
      part_b[b_depth][b_column] = b.at(begin + b_depth, column + b_column);
    }
    __syncthreads();
    for (int l = 0; l < depth; ++l) {
#pragma unroll
      for (int i = 0; i < each; ++i) {
#pragma unroll
        for (int j = 0; j < each; ++j) sums[i][j] += part_a[l][down + i] * part_b[l][across + j];
      }
    }
    __syncthreads();
  }
  for (int i = 0; i < each; ++i) {
    for (int j = 0; j < each; ++j) {
      if (row + down + i >= a.rows || column + across + j >= b.columns) continue;
      float& place = c[(row + down + i) * b.columns + column + across + j];
      place = alpha * sums[i][j] + (beta == 0.0F ? 0.0F : beta * place);
    }
  }
}

}  // namespace
}  // namespace cuda

void CudaKernels::gemm(const GemmShape& shape, Buffer a, Buffer b, Buffer c) {
  if (shape.k == 0 && shape.beta == 0.0F) return fill(c, 0.0);
  if (shape.k == 0) return DeviceRules::of(kind()).scale.run(*this, std::array<double, 1>{shape.beta}, std::array{c});
  if (cublas_ != nullptr) return cublas_->multiply(shape, a.data<float>(), b.data<float>(), c.data<float>());
  const std::int64_t tiles_down = (shape.m + cuda::side - 1) / cuda::side;
  const std::int64_t tiles_across = (shape.n + cuda::side - 1) / cuda::side;
  const cuda::Operand left{a.data<float>(), shape.m, shape.k, shape.transpose_a};
  const cuda::Operand right{b.data<float>(), shape.k, shape.n, shape.transpose_b};
  cuda::launch("gemm", *this, cuda::multiply_tiles, tiles_down * tiles_across, cuda::block_threads, left, right,
               shape.alpha, shape.beta, c.data<float>(), tiles_across);
}

}  // namespace trigram
