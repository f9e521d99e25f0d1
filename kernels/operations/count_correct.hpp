// Counts the rows of logits whose largest entry, the first of equal ones, is at the label, as one i64. A row with a NaN
// there, or at its begin, is not counted. A label that is no class is an Error.
#pragma once

#include "kernels/operations/classes.hpp"

namespace trigram {

/// Shapes and work.
class CountCorrectModel : public Operation {
 public:
  static Description description() { return {"how many rows of logits are largest at their label"}; }

  std::vector<OperationInput> inputs() const override {
    return {{"logits", InputGradient::none}, {"labels", InputGradient::none}};
  }
  OperationShapes shapes(const TensorShapes& inputs) const override {
    require_classes(inputs);
    return {.outputs = {{{1}, DType::i64}}, .positions = inputs[0].dimensions[1]};
  }
  OperationWork work(const TensorShapes& inputs) const override {
    constexpr double count = 8;  // bytes
    return {{static_cast<double>(inputs[0].count()), inputs[0].bytes() + inputs[1].bytes() + count}, {{}, {}}};
  }
  std::vector<TensorShapes> trials() const override { return class_trials(); }
};

}  // namespace trigram
