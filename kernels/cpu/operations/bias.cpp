// Bias on host memory.
#include "kernels/operations/bias.hpp"

#include <cstring>

#include "kernels/cpu/kernels.hpp"

namespace trigram {
namespace {

class Bias final : public BiasModel {
  void compute(Kernels& kernels, const TensorShapes&, const OperationForward& memory) const override {
    const Buffer rows = memory.outputs[0], bias = memory.inputs[1];
    bring(kernels, memory.inputs[0], rows);
    const std::int64_t columns = bias.count();
    const float* terms = bias.data<float>();
    float* values = rows.data<float>();
    vectorised(instructions_of(kernels), [=, count = rows.count()]() TRIGRAM_INLINE {
      for (std::int64_t begin = 0; begin < count; begin += columns) {
        for (std::int64_t i = 0; i < columns; ++i) values[begin + i] += terms[i];
      }
    });
  }

  void differentiate(Kernels& kernels, const TensorShapes&, const OperationBackward& memory) const override {
    const Buffer rows = memory.output_gradients[0], sums = memory.input_gradients[1];
    const std::int64_t columns = sums.count();
    const float* values = rows.data<float>();
    float* totals = sums.data<float>();
    std::memset(totals, 0, static_cast<std::size_t>(sums.bytes()));
    vectorised(instructions_of(kernels), [=, count = rows.count()]() TRIGRAM_INLINE {
      for (std::int64_t begin = 0; begin < count; begin += columns) {
        for (std::int64_t i = 0; i < columns; ++i) totals[i] += values[begin + i];
      }
    });
  }
};

const Operations::Registration registration("cpu/bias", BiasModel::description(),
                                            [](Params&) { return std::make_unique<Bias>(); });

}  // namespace
}  // namespace trigram
