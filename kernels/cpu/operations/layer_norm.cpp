// Layer normalisation on host memory.
#include "kernels/operations/layer_norm.hpp"

#include <cmath>

#include "kernels/cpu/kernels.hpp"

namespace trigram {
namespace {

class LayerNorm final : public LayerNormModel {
 public:
  using LayerNormModel::LayerNormModel;

 private:
  void compute(Kernels&, const TensorShapes& inputs, const OperationForward& memory) const override {
    const std::int64_t width = inputs[0].dimensions.back();
    const float *gain = memory.inputs[1].data<float>(), *shift = memory.inputs[2].data<float>();
    for (std::int64_t row = 0; row < rows_of(inputs); ++row) {
      const float* x = memory.inputs[0].data<float>() + row * width;
      float* y = memory.outputs[0].data<float>() + row * width;
      const double mean = sum_over(width, [=](std::int64_t i) { return wide(x[i]); }) / static_cast<double>(width);
      const double squares = sum_over(width, [=](std::int64_t i) { return (wide(x[i]) - mean) * (wide(x[i]) - mean); });
      const double scale = 1 / std::sqrt(squares / static_cast<double>(width) + epsilon());
      memory.saved[0].data<float>()[row] = static_cast<float>(mean);
      memory.saved[1].data<float>()[row] = static_cast<float>(scale);
      for (std::int64_t i = 0; i < width; ++i)
        y[i] = static_cast<float>((wide(x[i]) - mean) * scale) * gain[i] + shift[i];
    }
  }

  void differentiate(Kernels& kernels, const TensorShapes& inputs, const OperationBackward& memory) const override {
    const Buffer gain = memory.input_gradients[1], shift = memory.input_gradients[2];
    if (!memory.input_gradients[0].empty()) differentiate_rows(inputs, memory);
    if (!gain.empty()) kernels.fill(gain, 0);
    if (!shift.empty()) kernels.fill(shift, 0);
    const std::int64_t width = inputs[0].dimensions.back();
    for (std::int64_t row = 0; row < rows_of(inputs); ++row) {
      const float* above = memory.output_gradients[0].data<float>() + row * width;
      const Normalised x(memory, row, width);
      for (std::int64_t i = 0; i < width && !gain.empty(); ++i) gain.data<float>()[i] += above[i] * x[i];
      for (std::int64_t i = 0; i < width && !shift.empty(); ++i) shift.data<float>()[i] += above[i];
    }
  }

  /// The x̂ of one row.
  struct Normalised {
    const float* x;
    float mean, scale;

    Normalised(const OperationBackward& memory, std::int64_t row, std::int64_t width)
        : x(memory.inputs[0].data<float>() + row * width),
          mean(memory.saved[0].data<float>()[row]),
          scale(memory.saved[1].data<float>()[row]) {}
    float operator[](std::int64_t i) const { return (x[i] - mean) * scale; }
  };

  static void differentiate_rows(const TensorShapes& inputs, const OperationBackward& memory) {
    const std::int64_t width = inputs[0].dimensions.back();
    const float* gain = memory.inputs[1].data<float>();
    for (std::int64_t row = 0; row < rows_of(inputs); ++row) {
      const float* above = memory.output_gradients[0].data<float>() + row * width;
      float* below = memory.input_gradients[0].data<float>() + row * width;
      const Normalised x(memory, row, width);
      const auto slope = [=](std::int64_t i) { return wide(gain[i]) * wide(above[i]); };
      const double mean = sum_over(width, slope) / static_cast<double>(width);
      const double along =
          sum_over(width, [=](std::int64_t i) { return slope(i) * wide(x[i]); }) / static_cast<double>(width);
      for (std::int64_t i = 0; i < width; ++i)
        below[i] = static_cast<float>(wide(x.scale) * (slope(i) - mean - wide(x[i]) * along));
    }
  }

  static double wide(float x) { return static_cast<double>(x); }
  template <class Term>
  static double sum_over(std::int64_t count, const Term& term) {
    double sum = 0;
    for (std::int64_t i = 0; i < count; ++i) sum += term(i);
    return sum;
  }
};

const Operations::Registration registration("cpu/layer_norm", LayerNormModel::description(),
                                            [](Params& params) { return std::make_unique<LayerNorm>(params); });

}  // namespace
}  // namespace trigram
