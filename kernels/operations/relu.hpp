// ReLU: y = max(x, 0), element by element; a NaN stays. Backward: the gradient passes where y is not 0.
#pragma once

#include "core/step/operation.hpp"
#include "kernels/operations/in_place.hpp"
#include "kernels/rule.hpp"

namespace trigram {

/// A NaN stays.
struct Rectified {
  static constexpr bool f32_only = true;
  TRIGRAM_RULE void operator()(float& x) const { x = x < 0.0F ? 0.0F : x; }
};
struct WhereActive {
  static constexpr bool f32_only = true;
  TRIGRAM_RULE void operator()(float activated, float& gradient) const {
    gradient = activated == 0.0F ? 0.0F : gradient;
  }
};

/// Shapes and work. Backward reads the output, so that the input need not be kept.
class ReluModel : public Operation {
 public:
  static Description description() { return {"x where it is positive, else 0"}; }

  std::vector<OperationInput> inputs() const override { return {{"values"}}; }
  OperationShapes shapes(const TensorShapes& inputs) const override {
    require(inputs[0].dtype == DType::f32, "values must be f32");
    return {inputs};
  }
  OperationWork work(const TensorShapes& inputs) const override {
    const auto elements = static_cast<double>(inputs[0].count());
    return {{elements, 2 * inputs[0].bytes()}, {{elements, 3 * inputs[0].bytes()}}};
  }
  bool in_place() const override { return true; }
  std::vector<TensorShapes> trials() const override { return {{{{37, 7}}}, {{{4099}}}, {{{0, 3}}}}; }
};

}  // namespace trigram
