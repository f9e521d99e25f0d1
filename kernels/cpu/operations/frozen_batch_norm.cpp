// Batch normalisation by given statistics on host memory.
#include "kernels/operations/frozen_batch_norm.hpp"

#include "kernels/cpu/kernels.hpp"
#include "kernels/cpu/operations/channel_sum.hpp"

namespace trigram {
namespace {

class FrozenBatchNorm final : public FrozenBatchNormModel {
  void compute(Kernels& kernels, const TensorShapes& inputs, const OperationForward& memory) const override {
    const float *x = memory.inputs[0].data<float>(), *gains = memory.inputs[1].data<float>(),
                *shifts = memory.inputs[2].data<float>(), *means = memory.inputs[3].data<float>(),
                *scales = memory.inputs[4].data<float>();
    float* y = memory.outputs[0].data<float>();
    vectorised(instructions_of(kernels), [=, images = Channels(inputs[0])]() TRIGRAM_INLINE {
      for (std::int64_t channel = 0; channel < images.channels; ++channel) {
        const float mean = means[channel], scale = scales[channel], gain = gains[channel], shift = shifts[channel];
        over_channel(images, channel,
                     [=](std::int64_t i) TRIGRAM_INLINE { y[i] = normalised(x[i], mean, scale) * gain + shift; });
      }
    });
  }
};

const Operations::Registration registration("cpu/frozen_batch_norm", FrozenBatchNormModel::description(),
                                            [](Params&) { return std::make_unique<FrozenBatchNorm>(); });

}  // namespace
}  // namespace trigram
