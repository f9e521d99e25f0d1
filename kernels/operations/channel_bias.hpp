// Bias of channels: one term a channel is added at every place of every sample. Images pass their gradient on; that of
// the bias is its sum over the channel.
#pragma once

#include "kernels/operations/channels.hpp"
#include "kernels/operations/in_place.hpp"

namespace trigram {

/// Shapes and work.
class ChannelBiasModel : public Operation {
 public:
  static Description description() { return {"one term a channel, added at every place of every sample"}; }

  std::vector<OperationInput> inputs() const override { return {{"images", InputGradient::passed}, {"bias"}}; }
  OperationShapes shapes(const TensorShapes& inputs) const override {
    require_channels(inputs, "the bias");
    return {{inputs[0]}};
  }
  OperationWork work(const TensorShapes& inputs) const override {
    const auto elements = static_cast<double>(inputs[0].count());
    return {{elements, inputs[1].bytes() + 2 * inputs[0].bytes()},
            {{}, {elements, inputs[0].bytes() + inputs[1].bytes()}}};
  }
  bool in_place() const override { return true; }
  std::vector<TensorShapes> trials() const override { return channel_trials(1); }
};

}  // namespace trigram
