// Layer normalisation (Ba et al. 2016, arXiv:1607.06450) over the last dimension, as PyTorch defines it:
//   y = gain·x̂ + shift,  x̂ = (x − mean)·scale,  scale = 1/√(variance + epsilon), of each row by itself
//   ∂x = scale·(g − mean of g − x̂·mean of g·x̂) with g = gain·∂y;  ∂gain = Σ rows of ∂y·x̂,  ∂shift = Σ rows of ∂y
// Sums are f64; those over rows are in their order. A row with a NaN or an infinity becomes NaN.
#pragma once

#include "core/step/operation.hpp"

namespace trigram {

/// Parameters, shapes and work. Mean and scale of each row are saved.
class LayerNormModel : public Operation {
 public:
  explicit LayerNormModel(Params& params)
      : epsilon_(params.get("epsilon", 1e-5, "added to the variance of a row", {0, 1})) {}
  static Description description() {
    return {"rows of mean 0 and variance 1, times a gain, plus a shift",
            "Ba et al., Layer normalization, 2016, arXiv:1607.06450"};
  }

  std::vector<OperationInput> inputs() const override {
    return {{"rows", InputGradient::computed}, {"gain", InputGradient::computed}, {"shift", InputGradient::computed}};
  }
  OperationShapes shapes(const TensorShapes& inputs) const override {
    for (const TensorShape& input : inputs) require(input.dtype == DType::f32, "rows, gain and shift must be f32");
    const Dimensions& rows = inputs[0].dimensions;
    require(!rows.empty() && rows.back() > 0, "rows must have elements");
    for (const std::size_t of_a_row : {1, 2})
      require(inputs[of_a_row].dimensions == Dimensions{rows.back()},
              "gain and shift have one dimension, as long as the last one of the rows");
    const TensorShape a_row{{rows_of(inputs)}};
    return {.outputs = {inputs[0]}, .saved = {a_row, a_row}};
  }
  OperationWork work(const TensorShapes& inputs) const override {
    const auto elements = static_cast<double>(inputs[0].count());
    const double rows = inputs[0].bytes(), gain = inputs[1].bytes();
    const double saved = 2.0 * 4 * static_cast<double>(rows_of(inputs));
    return {
        {8 * elements, 2 * rows + 2 * gain + saved},
        {{11 * elements, 3 * rows + gain + saved}, {4 * elements, 2 * rows + gain + saved}, {elements, rows + gain}}};
  }
  std::vector<TensorShapes> trials() const override {
    const auto trial = [](const Dimensions& rows) { return TensorShapes{{rows}, {{rows.back()}}, {{rows.back()}}}; };
    return {trial({37, 7}), trial({3, 4, 130}), trial({5, 3}), trial({0, 5})};
  }

 protected:
  double epsilon() const { return epsilon_; }
  static std::int64_t rows_of(const TensorShapes& inputs) { return inputs[0].count() / inputs[0].dimensions.back(); }

 private:
  double epsilon_;
};

}  // namespace trigram
