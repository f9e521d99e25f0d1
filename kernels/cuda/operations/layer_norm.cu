// Layer normalisation on device memory: a warp a row, and a thread a column for sums over rows.
#include "kernels/cuda/warp_rows.hpp"
#include "kernels/operations/layer_norm.hpp"

namespace trigram {
namespace {

__device__ __forceinline__ double wide(float x) { return static_cast<double>(x); }

template <class Term>
__device__ __forceinline__ double sum_over(std::int64_t count, const Term& term) {
  double sum = 0.0;
  for (std::int64_t i = threadIdx.x % cuda::warp_lanes; i < count; i += cuda::warp_lanes) sum += term(i);
  return cuda::over_lanes(sum, [](double a, double b) { return a + b; });
}

__global__ void __launch_bounds__(cuda::block_threads)
    normalise_rows(const float* rows, const float* gain, const float* shift, std::int64_t count, std::int64_t width,
                   double epsilon, float* out, float* means, float* scales) {
  const int lane = threadIdx.x % cuda::warp_lanes;
  for (std::int64_t row = cuda::first_row(); row < count; row += cuda::row_step()) {
    const float* x = rows + row * width;
    const double mean = sum_over(width, [=](std::int64_t i) { return wide(x[i]); }) / static_cast<double>(width);
    const double squares = sum_over(width, [=](std::int64_t i) { return (wide(x[i]) - mean) * (wide(x[i]) - mean); });
    const double scale = 1.0 / std::sqrt(squares / static_cast<double>(width) + epsilon);
    if (lane == 0) {
      means[row] = static_cast<float>(mean);
      scales[row] = static_cast<float>(scale);
    }
    for (std::int64_t i = lane; i < width; i += cuda::warp_lanes)
      out[row * width + i] = static_cast<float>((wide(x[i]) - mean) * scale) * gain[i] + shift[i];
  }
}

__global__ void __launch_bounds__(cuda::block_threads)
    differentiate_rows(const float* rows, const float* gain, const float* above, std::int64_t count, std::int64_t width,
                       const float* means, const float* scales, float* below) {
  for (std::int64_t row = cuda::first_row(); row < count; row += cuda::row_step()) {
    const std::int64_t begin = row * width;
    const float shift = means[row], scale = scales[row];
    const auto normalised = [=](std::int64_t i) { return wide((rows[begin + i] - shift) * scale); };
    const auto slope = [=](std::int64_t i) { return wide(gain[i]) * wide(above[begin + i]); };
    const double mean = sum_over(width, slope) / static_cast<double>(width);
    const double along =
        sum_over(width, [=](std::int64_t i) { return slope(i) * normalised(i); }) / static_cast<double>(width);
    for (std::int64_t i = threadIdx.x % cuda::warp_lanes; i < width; i += cuda::warp_lanes)
      below[begin + i] = static_cast<float>(wide(scale) * (slope(i) - mean - normalised(i) * along));
  }
}

/// Rows in order; each of the two sums where there is room for it.
__global__ void __launch_bounds__(cuda::block_threads)
    add_columns(const float* rows, const float* above, std::int64_t count, std::int64_t width, const float* means,
                const float* scales, float* gain, float* shift) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t column = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; column < width;
       column += stride) {
    float products = 0.0F, sum = 0.0F;
    for (std::int64_t row = 0; row < count; ++row) {
      const std::int64_t at = row * width + column;
      products += above[at] * ((rows[at] - means[row]) * scales[row]);
      sum += above[at];
    }
    if (gain != nullptr) gain[column] = products;
    if (shift != nullptr) shift[column] = sum;
  }
}

float* memory_of(const Buffer& wanted) { return wanted.empty() ? nullptr : wanted.data<float>(); }

class LayerNorm final : public LayerNormModel {
 public:
  using LayerNormModel::LayerNormModel;

 private:
  void compute(Kernels& kernels, const TensorShapes& inputs, const OperationForward& memory) const override {
    const CudaKernels& lane = cuda::cuda_of(kernels);
    const std::int64_t rows = rows_of(inputs);
    cuda::launch("layer_norm", lane, normalise_rows, cuda::Work{rows, cuda::tree_warps}, cuda::block_threads,
                 memory.inputs[0].data<float>(), memory.inputs[1].data<float>(), memory.inputs[2].data<float>(), rows,
                 inputs[0].dimensions.back(), epsilon(), memory.outputs[0].data<float>(), memory.saved[0].data<float>(),
                 memory.saved[1].data<float>());
  }

  void differentiate(Kernels& kernels, const TensorShapes& inputs, const OperationBackward& memory) const override {
    constexpr unsigned threads = 64;  // few columns: many small blocks
    const CudaKernels& lane = cuda::cuda_of(kernels);
    const std::int64_t rows = rows_of(inputs), width = inputs[0].dimensions.back();
    const float *x = memory.inputs[0].data<float>(), *above = memory.output_gradients[0].data<float>();
    const float *means = memory.saved[0].data<float>(), *scales = memory.saved[1].data<float>();
    float *below = memory_of(memory.input_gradients[0]), *gain = memory_of(memory.input_gradients[1]),
          *shift = memory_of(memory.input_gradients[2]);
    if (below != nullptr) {
      cuda::launch("layer_norm_backward", lane, differentiate_rows, cuda::Work{rows, cuda::tree_warps},
                   cuda::block_threads, x, memory.inputs[1].data<float>(), above, rows, width, means, scales, below);
    }
    if (gain == nullptr && shift == nullptr) return;
    cuda::launch("layer_norm_backward", lane, add_columns, cuda::Work{width, threads}, threads, x, above, rows, width,
                 means, scales, gain, shift);
  }
};

const Operations::Registration registration("cuda/layer_norm", LayerNormModel::description(),
                                            [](Params& params) { return std::make_unique<LayerNorm>(params); });

}  // namespace
}  // namespace trigram
