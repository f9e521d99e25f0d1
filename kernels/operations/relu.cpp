// ReLU: y = max(x, 0), element by element; a NaN stays. Backward: the gradient passes where y is not 0. Every kind of
// device compiles this file for itself.
#include "core/step/operation.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/operations/in_place.hpp"

namespace trigram {
namespace {

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

/// Backward reads the output, so that the input need not be kept.
class Relu final : public Operation {
 public:
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

 private:
  void compute(Kernels& kernels, const TensorShapes&, const OperationForward& memory) const override {
    bring(kernels, memory.inputs[0], memory.outputs[0]);
    run_rule("relu", kernels, Rectified{}, std::span(memory.outputs).first(1));
  }
  void differentiate(Kernels& kernels, const TensorShapes&, const OperationBackward& memory) const override {
    const Buffer gradient = memory.input_gradients[0];
    bring(kernels, memory.output_gradients[0], gradient);
    run_rule("relu_backward", kernels, WhereActive{}, std::array{memory.outputs[0], gradient});
  }
};

const Operations::Registration registration(std::string(compiled_for) + "/relu", {"x where it is positive, else 0"},
                                            [](Params&) { return std::make_unique<Relu>(); });

}  // namespace
}  // namespace trigram
