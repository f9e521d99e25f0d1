// Cross-entropy of a softmax: loss = scale·Σ over rows of ln Σ exp(z − max) − (z_label − max), no exponential
// overflows. Forward leaves its gradient, scale·(softmax − onehot), since it has all of it: saved, or in place of the
// logits. Terms are f32, sums f64 in the order of rows' tree. An empty batch has loss 0. A label that is no class is an
// Error.
#pragma once

#include "kernels/operations/classes.hpp"
#include "kernels/operations/in_place.hpp"

namespace trigram {

/// Parameters, shapes and work.
class CrossEntropyModel : public Operation {
 public:
  explicit CrossEntropyModel(Params& params)
      : scale_(static_cast<float>(params.get("scale", 1.0, "what the sum over rows is multiplied by", {-1e9, 1e9}))) {}
  static Description description() { return {"cross-entropy of the softmax of a row of logits at its label"}; }

  std::vector<OperationInput> inputs() const override {
    return {{"logits", InputGradient::left}, {"labels", InputGradient::none}};
  }
  OperationShapes shapes(const TensorShapes& inputs) const override {
    require_classes(inputs);
    return {.outputs = {{{1}}}, .saved = {inputs[0]}, .positions = inputs[0].dimensions[1]};
  }
  OperationWork work(const TensorShapes& inputs) const override {
    constexpr double flops = 5;  // of an element
    constexpr double loss = 4;   // bytes
    return {{flops * static_cast<double>(inputs[0].count()), 2 * inputs[0].bytes() + inputs[1].bytes() + loss},
            {{}, {}}};
  }
  bool in_place() const override { return true; }
  std::vector<TensorShapes> trials() const override { return class_trials(); }

 protected:
  float scale() const { return scale_; }

 private:
  float scale_;
};

}  // namespace trigram
