// Bias of channels: one term a channel is added at every place of every sample. Images pass their gradient on; that of
// the bias is its sum over the channel.
#pragma once

#include "kernels/operations/bias.hpp"
#include "kernels/operations/channels.hpp"

namespace trigram {

/// Shapes; the work is that of any bias.
class ChannelBiasModel : public BiasModel {
 public:
  static Description description() { return {"one term a channel, added at every place of every sample"}; }

  std::vector<OperationInput> inputs() const override { return {{"images", InputGradient::passed}, {"bias"}}; }
  OperationShapes shapes(const TensorShapes& inputs) const override {
    require_channels(inputs, "the bias");
    return {{inputs[0]}};
  }
  std::vector<TensorShapes> trials() const override { return channel_trials(1); }
};

}  // namespace trigram
