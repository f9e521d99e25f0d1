// ReLU on host memory.
#include "kernels/operations/relu.hpp"

#include "kernels/cpu/elementwise.hpp"

namespace trigram {
namespace {

class Relu final : public ReluModel {
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

const Operations::Registration registration("cpu/relu", ReluModel::description(),
                                            [](Params&) { return std::make_unique<Relu>(); });

}  // namespace
}  // namespace trigram
