// Standard normal numbers of a stream: a thread a block of four.
#include "kernels/cuda/runtime/launch.hpp"
#include "kernels/normal.hpp"
#include "kernels/philox.hpp"

namespace trigram {
namespace cuda {
namespace {

__global__ void __launch_bounds__(block_threads)
    draw_normal(const __grid_constant__ PhiloxStream stream, float* values, std::int64_t count) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t block = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; 4 * block < count;
       block += stride) {
    std::uint32_t words[4];
    philox_block(stream, static_cast<std::uint64_t>(block), words);
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      if (4 * block + j < count) values[4 * block + j] = scalar::normal(words[j]);
    }
  }
}

}  // namespace
}  // namespace cuda

void CudaKernels::fill_normal(Buffer x, const Key& key) {
  cuda::launch("fill_normal", *this, cuda::draw_normal, cuda::Work{(x.count() + 3) / 4, cuda::block_threads},
               cuda::block_threads, PhiloxStream(Philox(key)), x.data<float>(), x.count());
}

}  // namespace trigram
