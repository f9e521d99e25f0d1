// Bias of channels on device memory.
#include "kernels/cuda/operations/channel_sum.hpp"
#include "kernels/operations/channel_bias.hpp"

namespace trigram {
namespace {

__global__ void __launch_bounds__(cuda::block_threads)
    add_channel_terms(const float* terms, std::int64_t channels, std::int64_t places, float* values,
                      std::int64_t count) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += stride) {
    values[i] += terms[i / places % channels];
  }
}

__global__ void __launch_bounds__(cuda::block_threads) add_channels(Channels images, const float* above, float* sums) {
  for (std::int64_t channel = blockIdx.x; channel < images.channels; channel += gridDim.x) {
    const double sum =
        cuda::channel_sum(images, channel, [=](std::int64_t i) { return static_cast<double>(above[i]); });
    if (threadIdx.x == 0) sums[channel] = static_cast<float>(sum);
  }
}

class ChannelBias final : public ChannelBiasModel {
  void compute(Kernels& kernels, const TensorShapes& inputs, const OperationForward& memory) const override {
    const Buffer values = memory.outputs[0];
    const Channels images(inputs[0]);
    bring(kernels, memory.inputs[0], values);
    cuda::launch("channel_bias", cuda::cuda_of(kernels), add_channel_terms,
                 cuda::Work{values.count(), cuda::block_threads}, cuda::block_threads, memory.inputs[1].data<float>(),
                 images.channels, images.places, values.data<float>(), values.count());
  }

  void differentiate(Kernels& kernels, const TensorShapes& inputs, const OperationBackward& memory) const override {
    const Channels images(inputs[0]);
    cuda::launch("channel_bias_backward", cuda::cuda_of(kernels), add_channels, cuda::Work{images.channels, 1},
                 cuda::block_threads, images, memory.output_gradients[0].data<float>(),
                 memory.input_gradients[1].data<float>());
  }
};

const Operations::Registration registration("cuda/channel_bias", ChannelBiasModel::description(),
                                            [](Params&) { return std::make_unique<ChannelBias>(); });

}  // namespace
}  // namespace trigram
