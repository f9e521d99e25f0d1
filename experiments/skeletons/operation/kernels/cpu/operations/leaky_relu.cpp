// Leaky ReLU (Maas et al., ICML 2013): y = x where x > 0, else slope·x, element by element; a NaN stays. The gradient
// is multiplied by slope where y < 0, else by 1: the sign of y is that of x, so that backward reads y alone. Change:
// what is computed, its paper, its gradients, and what happens to NaN and to empty tensors.
#include "core/step/operation.hpp"
#include "kernels/cpu/kernels.hpp"
#include "kernels/operations/in_place.hpp"

namespace trigram {
namespace {

class LeakyRelu final : public Operation {
 public:
  // Change: every parameter is read here, with its default, what it means and what it may be.
  explicit LeakyRelu(Params& params)
      : slope_(static_cast<float>(params.get("slope", 0.01, "factor of what is negative", {1e-6, 1}))) {}

  // Change: what it reads, weights among it, and where the gradient of each comes from.
  std::vector<OperationInput> inputs() const override { return {{"values", InputGradient::computed}}; }

  // Change: what comes of inputs of these shapes; each that does not fit is refused here.
  OperationShapes shapes(const TensorShapes& inputs) const override {
    require(inputs[0].dtype == DType::f32, "values must be f32");
    return {.outputs = {inputs[0]}};
  }

  // Change: operations and bytes of forward, and of the gradient of each input.
  OperationWork work(const TensorShapes& inputs) const override {
    const auto elements = static_cast<double>(inputs[0].count());
    return {{elements, 2 * inputs[0].bytes()}, {{elements, 3 * inputs[0].bytes()}}};
  }

  // Change: leave this out, unless the output may lie on the first input.
  bool in_place() const override { return true; }

  // Change: shapes that tests try, odd and empty ones among them.
  std::vector<TensorShapes> trials() const override { return {{{{37, 7}}}, {{{0, 3}}}}; }

 protected:
  // Change: outputs and saved tensors are written whole.
  void compute(Kernels& kernels, const TensorShapes&, const OperationForward& memory) const override {
    const Buffer x = memory.outputs[0];
    bring(kernels, memory.inputs[0], x);
    multiply_negatives(kernels, x.data<float>(), x.data<float>(), x.count());
  }

  // Change: each gradient that is wanted is written whole; nothing is added to what was there.
  void differentiate(Kernels& kernels, const TensorShapes&, const OperationBackward& memory) const override {
    const Buffer gradient = memory.input_gradients[0];
    bring(kernels, memory.output_gradients[0], gradient);
    multiply_negatives(kernels, memory.outputs[0].data<float>(), gradient.data<float>(), gradient.count());
  }

 private:
  /// values[i] *= slope where `signs`, which may be the same, are negative.
  void multiply_negatives(Kernels& kernels, const float* signs, float* values, std::int64_t count) const {
    vectorised(instructions_of(kernels), [=, slope = slope_]() TRIGRAM_INLINE {
      for (std::int64_t i = 0; i < count; ++i) values[i] = signs[i] < 0.0F ? slope * values[i] : values[i];
    });
  }

  float slope_;
};

// Change: what `trigram list` says, and the paper as a second text.
const Operations::Registration registration("cpu/leaky_relu",
                                            {"x where it is positive, else a small part of it",
                                             "Maas et al., Rectifier nonlinearities improve neural network acoustic "
                                             "models, ICML 2013"},
                                            [](Params& params) { return std::make_unique<LeakyRelu>(params); });

}  // namespace
}  // namespace trigram
