// Max pooling on device memory.
#include "kernels/cuda/runtime/launch.hpp"
#include "kernels/operations/max_pool.hpp"

namespace trigram {
namespace {

/// A thread a window.
__global__ void __launch_bounds__(cuda::block_threads)
    pool_windows(Pooling made, const float* images, std::int64_t out_height, std::int64_t out_width, float* out,
                 std::int32_t* places, std::int64_t count) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; at < count; at += stride) {
    const std::int64_t i = at / out_width % out_height, j = at % out_width;
    const float* plane = images + at / (out_width * out_height) * made.height * made.width;
    std::int64_t largest = (i * made.width + j) * made.stride;
    const std::int64_t first = largest;
    for (std::int64_t r = 0; r < made.size; ++r) {
      for (std::int64_t s = 0; s < made.size; ++s) {
        const float value = plane[first + r * made.width + s];
        if (value > plane[largest] || value != value) largest = first + r * made.width + s;
      }
    }
    out[at] = plane[largest];
    places[at] = static_cast<std::int32_t>(largest);
  }
}

/// A thread a pixel, which adds up the gradients of windows whose largest it is, in their order.
__global__ void __launch_bounds__(cuda::block_threads)
    spread_windows(Pooling made, const float* above, const std::int32_t* places, std::int64_t out_height,
                   std::int64_t out_width, float* below, std::int64_t count) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  const std::int64_t pixels = made.height * made.width;
  for (std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; at < count; at += stride) {
    const std::int64_t row = at % pixels / made.width, column = at % made.width;
    const std::int64_t begin = at / pixels * out_height * out_width;
    const std::int64_t top = row < made.size ? 0 : (row - made.size) / made.stride + 1;
    const std::int64_t left = column < made.size ? 0 : (column - made.size) / made.stride + 1;
    float sum = 0.0F;
    for (std::int64_t i = top; i <= row / made.stride && i < out_height; ++i) {
      for (std::int64_t j = left; j <= column / made.stride && j < out_width; ++j) {
        const std::int64_t window = begin + i * out_width + j;
        if (places[window] == at % pixels) sum += above[window];
      }
    }
    below[at] = sum;
  }
}

class MaxPool final : public MaxPoolModel {
 public:
  using MaxPoolModel::MaxPoolModel;

 private:
  void compute(Kernels& kernels, const TensorShapes& inputs, const OperationForward& memory) const override {
    const Pooling made = of(inputs);
    const Buffer out = memory.outputs[0];
    cuda::launch("max_pool", cuda::cuda_of(kernels), pool_windows, cuda::Work{out.count(), cuda::block_threads},
                 cuda::block_threads, made, memory.inputs[0].data<float>(), made.out_height(), made.out_width(),
                 out.data<float>(), memory.saved[0].data<std::int32_t>(), out.count());
  }

  void differentiate(Kernels& kernels, const TensorShapes& inputs, const OperationBackward& memory) const override {
    const Pooling made = of(inputs);
    const Buffer below = memory.input_gradients[0];
    cuda::launch("max_pool_backward", cuda::cuda_of(kernels), spread_windows,
                 cuda::Work{below.count(), cuda::block_threads}, cuda::block_threads, made,
                 memory.output_gradients[0].data<float>(), memory.saved[0].data<std::int32_t>(), made.out_height(),
                 made.out_width(), below.data<float>(), below.count());
  }
};

const Operations::Registration registration("cuda/max_pool", MaxPoolModel::description(),
                                            [](Params& params) { return std::make_unique<MaxPool>(params); });

}  // namespace
}  // namespace trigram
