// Batch normalisation on host memory.
#include "kernels/operations/batch_norm.hpp"

#include <cmath>

#include "kernels/cpu/kernels.hpp"
#include "kernels/cpu/operations/channel_sum.hpp"

namespace trigram {
namespace {

class BatchNorm final : public BatchNormModel {
 public:
  using BatchNormModel::BatchNormModel;

 private:
  void compute(Kernels& kernels, const TensorShapes& inputs, const OperationForward& memory) const override {
    const float *x = memory.inputs[0].data<float>(), *gains = memory.inputs[1].data<float>(),
                *shifts = memory.inputs[2].data<float>();
    float *y = memory.outputs[0].data<float>(), *means = memory.saved[0].data<float>(),
          *scales = memory.saved[1].data<float>();
    vectorised(instructions_of(kernels), [=, images = Channels(inputs[0]), epsilon = epsilon()]() TRIGRAM_INLINE {
      for (std::int64_t channel = 0; channel < images.channels; ++channel) {
        const double centre =
            channel_sum(images, channel, [x](std::int64_t i) TRIGRAM_INLINE { return static_cast<double>(x[i]); }) /
            images.divisor();
        const double squares = channel_sum(images, channel, [x, centre](std::int64_t i) TRIGRAM_INLINE {
          return (static_cast<double>(x[i]) - centre) * (static_cast<double>(x[i]) - centre);
        });
        const auto mean = static_cast<float>(centre);
        const auto scale = static_cast<float>(1.0 / std::sqrt(squares / images.divisor() + epsilon));
        means[channel] = mean;
        scales[channel] = scale;
        over_channel(images, channel,
                     [=, gain = gains[channel], shift = shifts[channel]](std::int64_t i)
                         TRIGRAM_INLINE { y[i] = normalised(x[i], mean, scale) * gain + shift; });
      }
    });
  }

  void differentiate(Kernels& kernels, const TensorShapes& inputs, const OperationBackward& memory) const override {
    const float *x = memory.inputs[0].data<float>(), *gains = memory.inputs[1].data<float>(),
                *means = memory.saved[0].data<float>(), *scales = memory.saved[1].data<float>(),
                *above = memory.output_gradients[0].data<float>();
    float *below = wanted(memory.input_gradients[0]), *gain_slopes = wanted(memory.input_gradients[1]),
          *shift_slopes = wanted(memory.input_gradients[2]);
    vectorised(instructions_of(kernels), [=, images = Channels(inputs[0])]() TRIGRAM_INLINE {
      for (std::int64_t channel = 0; channel < images.channels; ++channel) {
        const float mean = means[channel], scale = scales[channel];
        const double slopes = channel_sum(
            images, channel, [above](std::int64_t i) TRIGRAM_INLINE { return static_cast<double>(above[i]); });
        const double products = channel_sum(images, channel, [=](std::int64_t i) TRIGRAM_INLINE {
          return static_cast<double>(above[i]) * static_cast<double>(normalised(x[i], mean, scale));
        });
        if (gain_slopes != nullptr) gain_slopes[channel] = static_cast<float>(products);
        if (shift_slopes != nullptr) shift_slopes[channel] = static_cast<float>(slopes);
        if (below == nullptr) continue;
        const auto level = static_cast<float>(slopes / images.divisor());
        const auto along = static_cast<float>(products / images.divisor());
        const float factor = gains[channel] * scale;
        over_channel(images, channel, [=](std::int64_t i) TRIGRAM_INLINE {
          below[i] = factor * (above[i] - level - normalised(x[i], mean, scale) * along);
        });
      }
    });
  }

  static float* wanted(const Buffer& gradient) { return gradient.empty() ? nullptr : gradient.data<float>(); }
};

const Operations::Registration registration("cpu/batch_norm", BatchNormModel::description(),
                                            [](Params& params) { return std::make_unique<BatchNorm>(params); });

}  // namespace
}  // namespace trigram
