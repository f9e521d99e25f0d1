// Bias on device memory.
#include "kernels/cuda/runtime/launch.hpp"
#include "kernels/operations/bias.hpp"

namespace trigram {
namespace {

__global__ void __launch_bounds__(cuda::block_threads)
    add_bias_rows(const float* bias, std::int64_t columns, float* rows, std::int64_t count) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += stride) {
    rows[i] += bias[i % columns];
  }
}

/// A thread a column, rows in order: f32 sums as on the host.
__global__ void __launch_bounds__(cuda::block_threads)
    add_columns(const float* rows, std::int64_t count, std::int64_t columns, float* sums) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t column = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; column < columns;
       column += stride) {
    float sum = 0.0F;
#pragma unroll 8
    for (std::int64_t i = column; i < count; i += columns) sum += rows[i];
    sums[column] = sum;
  }
}

class Bias final : public BiasModel {
  void compute(Kernels& kernels, const TensorShapes&, const OperationForward& memory) const override {
    const CudaKernels& lane = cuda::cuda_of(kernels);
    const Buffer rows = memory.outputs[0], bias = memory.inputs[1];
    bring(kernels, memory.inputs[0], rows);
    cuda::launch("bias", lane, add_bias_rows, cuda::Work{rows.count(), cuda::block_threads}, cuda::block_threads,
                 bias.data<float>(), bias.count(), rows.data<float>(), rows.count());
  }

  void differentiate(Kernels& kernels, const TensorShapes&, const OperationBackward& memory) const override {
    constexpr unsigned threads = 64;  // few columns: many small blocks
    const CudaKernels& lane = cuda::cuda_of(kernels);
    const Buffer rows = memory.output_gradients[0], sums = memory.input_gradients[1];
    cuda::launch("bias_backward", lane, add_columns, cuda::Work{sums.count(), threads}, threads, rows.data<float>(),
                 rows.count(), sums.count(), sums.data<float>());
  }
};

const Operations::Registration registration("cuda/bias", BiasModel::description(),
                                            [](Params&) { return std::make_unique<Bias>(); });

}  // namespace
}  // namespace trigram
