// Batch normalisation on device memory, a block of threads a channel.
#include "kernels/cuda/operations/channel_sum.hpp"
#include "kernels/operations/batch_norm.hpp"

namespace trigram {
namespace {

__global__ void __launch_bounds__(cuda::block_threads)
    normalise_channels(Channels images, const float* x, const float* gains, const float* shifts, double epsilon,
                       float* y, float* means, float* scales) {
  for (std::int64_t channel = blockIdx.x; channel < images.channels; channel += gridDim.x) {
    const double centre =
        cuda::channel_sum(images, channel, [=](std::int64_t i) { return static_cast<double>(x[i]); }) /
        images.divisor();
    const double squares = cuda::channel_sum(images, channel, [=](std::int64_t i) {
      return (static_cast<double>(x[i]) - centre) * (static_cast<double>(x[i]) - centre);
    });
    const auto mean = static_cast<float>(centre);
    const auto scale = static_cast<float>(1.0 / std::sqrt(squares / images.divisor() + epsilon));
    if (threadIdx.x == 0) {
      means[channel] = mean;
      scales[channel] = scale;
    }
    const float gain = gains[channel], shift = shifts[channel];
    cuda::over_channel(images, channel, [=](std::int64_t i) { y[i] = normalised(x[i], mean, scale) * gain + shift; });
  }
}

/// Gradients where there is room for them.
__global__ void __launch_bounds__(cuda::block_threads)
    differentiate_channels(Channels images, const float* x, const float* gains, const float* means, const float* scales,
                           const float* above, float* below, float* gain_slopes, float* shift_slopes) {
  for (std::int64_t channel = blockIdx.x; channel < images.channels; channel += gridDim.x) {
    const float mean = means[channel], scale = scales[channel];
    const double slopes =
        cuda::channel_sum(images, channel, [=](std::int64_t i) { return static_cast<double>(above[i]); });
    const double products = cuda::channel_sum(images, channel, [=](std::int64_t i) {
      return static_cast<double>(above[i]) * static_cast<double>(normalised(x[i], mean, scale));
    });
    if (threadIdx.x == 0 && gain_slopes != nullptr) gain_slopes[channel] = static_cast<float>(products);
    if (threadIdx.x == 0 && shift_slopes != nullptr) shift_slopes[channel] = static_cast<float>(slopes);
    if (below == nullptr) continue;
    const auto level = static_cast<float>(slopes / images.divisor());
    const auto along = static_cast<float>(products / images.divisor());
    const float factor = gains[channel] * scale;
    cuda::over_channel(images, channel, [=](std::int64_t i) {
      below[i] = factor * (above[i] - level - normalised(x[i], mean, scale) * along);
    });
  }
}

float* wanted(const Buffer& gradient) { return gradient.empty() ? nullptr : gradient.data<float>(); }

class BatchNorm final : public BatchNormModel {
 public:
  using BatchNormModel::BatchNormModel;

 private:
  void compute(Kernels& kernels, const TensorShapes& inputs, const OperationForward& memory) const override {
    const Channels images(inputs[0]);
    cuda::launch("batch_norm", cuda::cuda_of(kernels), normalise_channels, cuda::Work{images.channels, 1},
                 cuda::block_threads, images, memory.inputs[0].data<float>(), memory.inputs[1].data<float>(),
                 memory.inputs[2].data<float>(), epsilon(), memory.outputs[0].data<float>(),
                 memory.saved[0].data<float>(), memory.saved[1].data<float>());
  }

  void differentiate(Kernels& kernels, const TensorShapes& inputs, const OperationBackward& memory) const override {
    const Channels images(inputs[0]);
    cuda::launch("batch_norm_backward", cuda::cuda_of(kernels), differentiate_channels, cuda::Work{images.channels, 1},
                 cuda::block_threads, images, memory.inputs[0].data<float>(), memory.inputs[1].data<float>(),
                 memory.saved[0].data<float>(), memory.saved[1].data<float>(), memory.output_gradients[0].data<float>(),
                 wanted(memory.input_gradients[0]), wanted(memory.input_gradients[1]),
                 wanted(memory.input_gradients[2]));
  }
};

const Operations::Registration registration("cuda/batch_norm", BatchNormModel::description(),
                                            [](Params& params) { return std::make_unique<BatchNorm>(params); });

}  // namespace
}  // namespace trigram
