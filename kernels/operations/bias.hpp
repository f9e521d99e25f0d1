// Bias: one term a column is added to every row. Rows pass their gradient on; that of the bias is its sum over rows, in
// their order, in f32.
#pragma once

#include "core/step/operation.hpp"
#include "kernels/operations/in_place.hpp"

namespace trigram {

/// Shapes and work.
class BiasModel : public Operation {
 public:
  static Description description() { return {"one term a column, added to every row"}; }

  std::vector<OperationInput> inputs() const override { return {{"rows", InputGradient::passed}, {"bias"}}; }
  OperationShapes shapes(const TensorShapes& inputs) const override {
    for (const TensorShape& input : inputs) require(input.dtype == DType::f32, "rows and bias must be f32");
    const Dimensions &rows = inputs[0].dimensions, &bias = inputs[1].dimensions;
    require(!rows.empty() && bias.size() == 1 && bias[0] == rows.back(),
            "a bias has one dimension, as long as the last one of the rows");
    return {{inputs[0]}};
  }
  OperationWork work(const TensorShapes& inputs) const override {
    const auto elements = static_cast<double>(inputs[0].count());
    return {{elements, inputs[1].bytes() + 2 * inputs[0].bytes()},
            {{}, {elements, inputs[0].bytes() + inputs[1].bytes()}}};
  }
  bool in_place() const override { return true; }
  std::vector<TensorShapes> trials() const override {
    return {{{{37, 7}}, {{7}}}, {{{5, 3, 300}}, {{300}}}, {{{1, 1}}, {{1}}}, {{{0, 4}}, {{4}}}};
  }
};

}  // namespace trigram
