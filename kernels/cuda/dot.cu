// The inner product, by the fixed tree.
#include "kernels/cuda/tree_sum.hpp"

namespace trigram {
namespace cuda {
namespace {

__global__ void __launch_bounds__(block_threads)
    add_products(const float* x, const float* y, std::int64_t count, double* partials) {
  add_tree_blocks(count, partials,
                  [=](std::int64_t i) { return static_cast<double>(x[i]) * static_cast<double>(y[i]); });
}

__global__ void __launch_bounds__(block_threads) finish_dot(double* partials, std::int64_t count, float* result) {
  const double total = tree_total(partials, count);
  if (threadIdx.x == 0) *result = static_cast<float>(total);
}

}  // namespace
}  // namespace cuda

void CudaKernels::dot(Buffer x, Buffer y, Buffer result) {
  const std::int64_t partials = cuda::tree_partials(x.count());
  auto* room = static_cast<double*>(scratch(cuda::tree_room(partials) * sizeof(double)));
  if (partials > 0) {
    cuda::launch("dot", *this, cuda::add_products, cuda::Work{partials, 1}, cuda::block_threads, x.data<float>(),
                 y.data<float>(), x.count(), room);
  }
  cuda::launch("dot", *this, cuda::finish_dot, 1, cuda::block_threads, room, partials, result.data<float>());
}

}  // namespace trigram
