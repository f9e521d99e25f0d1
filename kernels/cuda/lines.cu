// Norms of rows and columns of matrices on device memory, a warp a line.
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

}  // namespace
}  // namespace cuda

void CudaKernels::norms(Lines lines, Buffer matrix, Buffer norms) {
  const LineLayout layout(lines, norms.count(), matrix.count());
  cuda::launch("norms", *this, cuda::norms_of_lines, cuda::Work{layout.count, cuda::tree_warps}, cuda::block_threads,
               matrix.data<float>(), layout, norms.data<float>());
}

}  // namespace trigram
