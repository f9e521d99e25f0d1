// ReLU on host memory.
#include "kernels/operations/relu.hpp"

#include "kernels/cpu/kernels.hpp"

namespace trigram {
namespace {

class Relu final : public ReluModel {
  void compute(Kernels& kernels, const TensorShapes&, const OperationForward& memory) const override {
    const Buffer x = memory.outputs[0];
    bring(kernels, memory.inputs[0], x);
    float* values = x.data<float>();
    vectorised(instructions_of(kernels), [values, count = x.count()]() TRIGRAM_INLINE {
      // Written so that a NaN stays.
      for (std::int64_t i = 0; i < count; ++i) values[i] = values[i] < 0.0F ? 0.0F : values[i];
    });
  }

  void differentiate(Kernels& kernels, const TensorShapes&, const OperationBackward& memory) const override {
    const Buffer gradient = memory.input_gradients[0];
    bring(kernels, memory.output_gradients[0], gradient);
    const float* outputs = memory.outputs[0].data<float>();
    float* values = gradient.data<float>();
    vectorised(instructions_of(kernels), [outputs, values, count = gradient.count()]() TRIGRAM_INLINE {
      for (std::int64_t i = 0; i < count; ++i) values[i] = outputs[i] == 0.0F ? 0.0F : values[i];
    });
  }
};

const Operations::Registration registration("cpu/relu", ReluModel::description(),
                                            [](Params&) { return std::make_unique<Relu>(); });

}  // namespace
}  // namespace trigram
