// Bias of channels on host memory.
#include "kernels/operations/channel_bias.hpp"

#include "kernels/cpu/kernels.hpp"
#include "kernels/cpu/operations/channel_sum.hpp"

namespace trigram {
namespace {

class ChannelBias final : public ChannelBiasModel {
  void compute(Kernels& kernels, const TensorShapes& inputs, const OperationForward& memory) const override {
    bring(kernels, memory.inputs[0], memory.outputs[0]);
    const float* terms = memory.inputs[1].data<float>();
    float* values = memory.outputs[0].data<float>();
    vectorised(instructions_of(kernels), [=, images = Channels(inputs[0])]() TRIGRAM_INLINE {
      for (std::int64_t channel = 0; channel < images.channels; ++channel)
        over_channel(images, channel,
                     [values, term = terms[channel]](std::int64_t i) TRIGRAM_INLINE { values[i] += term; });
    });
  }

  void differentiate(Kernels& kernels, const TensorShapes& inputs, const OperationBackward& memory) const override {
    const float* above = memory.output_gradients[0].data<float>();
    float* sums = memory.input_gradients[1].data<float>();
    vectorised(instructions_of(kernels), [=, images = Channels(inputs[0])]() TRIGRAM_INLINE {
      const auto term = [above](std::int64_t i) TRIGRAM_INLINE { return static_cast<double>(above[i]); };
      for (std::int64_t channel = 0; channel < images.channels; ++channel)
        sums[channel] = static_cast<float>(channel_sum(images, channel, term));
    });
  }
};

const Operations::Registration registration("cpu/channel_bias", ChannelBiasModel::description(),
                                            [](Params&) { return std::make_unique<ChannelBias>(); });

}  // namespace
}  // namespace trigram
