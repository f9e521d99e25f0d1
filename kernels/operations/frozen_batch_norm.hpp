// Batch normalisation by statistics that are given, for scoring: y = gain·(x − mean)·scale + shift, with mean and scale
// of each channel as batch_norm saved them, whose bits it gives for the batch that they are of. Nothing has a gradient.
#pragma once

#include "kernels/operations/channels.hpp"

namespace trigram {

/// Shapes and work.
class FrozenBatchNormModel : public Operation {
 public:
  static Description description() {
    return {"channels less a given mean, times a given scale and a gain, plus a shift"};
  }

  std::vector<OperationInput> inputs() const override {
    constexpr InputGradient none = InputGradient::none;
    return {{"images", none}, {"gain", none}, {"shift", none}, {"mean", none}, {"scale", none}};
  }
  OperationShapes shapes(const TensorShapes& inputs) const override {
    require_channels(inputs, "gain, shift, mean and scale");
    return {{inputs[0]}};
  }
  OperationWork work(const TensorShapes& inputs) const override {
    return {{4 * static_cast<double>(inputs[0].count()), 2 * inputs[0].bytes() + 4 * inputs[1].bytes()},
            std::vector<KernelCost>(inputs.size())};
  }
  bool in_place() const override { return true; }
  std::vector<TensorShapes> trials() const override { return channel_trials(4); }
};

}  // namespace trigram
