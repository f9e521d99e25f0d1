// Batch normalisation (Ioffe & Szegedy, ICML 2015, arXiv:1502.03167) in training, as PyTorch defines it:
//   y = gain·x̂ + shift,  x̂ = (x − mean)·scale,  scale = 1/√(variance + epsilon), of each channel over samples and
//   places;
//   ∂x = gain·scale·(∂y − mean of ∂y − x̂·mean of ∂y·x̂),  ∂gain = Σ ∂y·x̂,  ∂shift = Σ ∂y
// The variance is that of the batch, divided by its count. Sums are as in channels.hpp. A channel with a NaN or an
// infinity becomes NaN; of no samples the mean and the variance are 0. Statistics that stay are frozen_batch_norm's.
#pragma once

#include "kernels/operations/channels.hpp"

namespace trigram {

/// Parameters, shapes and work. Mean and scale of each channel are saved.
class BatchNormModel : public Operation {
 public:
  explicit BatchNormModel(Params& params)
      : epsilon_(params.get("epsilon", 1e-5, "added to the variance of a channel", {0, 1})) {}
  static Description description() {
    return {"channels of mean 0 and variance 1 over a batch, times a gain, plus a shift",
            "Ioffe & Szegedy, Batch normalization: accelerating deep network training by reducing internal covariate "
            "shift, ICML 2015, arXiv:1502.03167"};
  }

  std::vector<OperationInput> inputs() const override { return {{"images"}, {"gain"}, {"shift"}}; }
  OperationShapes shapes(const TensorShapes& inputs) const override {
    require_channels(inputs, "gain and shift");
    return {.outputs = {inputs[0]}, .saved = {inputs[1], inputs[1]}};
  }
  OperationWork work(const TensorShapes& inputs) const override {
    const auto elements = static_cast<double>(inputs[0].count());
    const double images = inputs[0].bytes(), gain = inputs[1].bytes();
    return {{8 * elements, 3 * images + 4 * gain},
            {{9 * elements, 4 * images + 3 * gain}, {4 * elements, 2 * images + 3 * gain}, {elements, images + gain}}};
  }
  std::vector<TensorShapes> trials() const override { return channel_trials(2); }

 protected:
  double epsilon() const { return epsilon_; }

 private:
  double epsilon_;
};

}  // namespace trigram
