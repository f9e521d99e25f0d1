// Convolution on device memory.
#include "kernels/cuda/runtime/launch.hpp"
#include "kernels/operations/conv2d.hpp"

namespace trigram {
namespace {

/// A thread an element of the columns.
__global__ void __launch_bounds__(cuda::block_threads)
    spread_image(Convolution made, const float* image, float* columns, std::int64_t out_width, std::int64_t places,
                 std::int64_t count) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; at < count; at += stride) {
    const std::int64_t element = at / places, place = at % places;
    const std::int64_t channel = element / (made.rows * made.columns);
    const std::int64_t row = place / out_width * made.stride + element / made.columns % made.rows - made.padding;
    const std::int64_t column = place % out_width * made.stride + element % made.columns - made.padding;
    const bool inside = row >= 0 && row < made.height && column >= 0 && column < made.width;
    columns[at] = inside ? image[(channel * made.height + row) * made.width + column] : 0.0F;
  }
}

/// A thread a pixel, which adds up what was taken from it in the host's order.
__global__ void __launch_bounds__(cuda::block_threads)
    gather_columns(Convolution made, const float* columns, float* image, std::int64_t out_height,
                   std::int64_t out_width, std::int64_t count) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; at < count; at += stride) {
    const std::int64_t channel = at / (made.height * made.width);
    const std::int64_t row = at / made.width % made.height + made.padding, column = at % made.width + made.padding;
    float sum = 0.0F;
    for (std::int64_t r = 0; r < made.rows && r <= row; ++r) {
      const std::int64_t i = (row - r) / made.stride;
      if ((row - r) % made.stride != 0 || i >= out_height) continue;
      for (std::int64_t s = 0; s < made.columns && s <= column; ++s) {
        const std::int64_t j = (column - s) / made.stride;
        if ((column - s) % made.stride != 0 || j >= out_width) continue;
        const std::int64_t element = (channel * made.rows + r) * made.columns + s;
        sum += columns[(element * out_height + i) * out_width + j];
      }
    }
    image[at] = sum;
  }
}

class Conv2d final : public Conv2dModel {
 public:
  using Conv2dModel::Conv2dModel;

 private:
  void spread(Kernels& kernels, const Convolution& made, Buffer image, Buffer columns) const override {
    const CudaKernels& lane = cuda::cuda_of(kernels);
    cuda::launch("conv2d", lane, spread_image, cuda::Work{columns.count(), cuda::block_threads}, cuda::block_threads,
                 made, image.data<float>(), columns.data<float>(), made.out_width(), made.places(), columns.count());
  }

  void gather(Kernels& kernels, const Convolution& made, Buffer columns, Buffer image) const override {
    const CudaKernels& lane = cuda::cuda_of(kernels);
    cuda::launch("conv2d_backward", lane, gather_columns, cuda::Work{image.count(), cuda::block_threads},
                 cuda::block_threads, made, columns.data<float>(), image.data<float>(), made.out_height(),
                 made.out_width(), image.count());
  }
};

const Operations::Registration registration("cuda/conv2d", Conv2dModel::description(),
                                            [](Params& params) { return std::make_unique<Conv2d>(params); });

}  // namespace
}  // namespace trigram
