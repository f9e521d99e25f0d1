// Counting correct rows on host memory.
#include "kernels/operations/count_correct.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/cpu/operations/label.hpp"

namespace trigram {
namespace {

class CountCorrect final : public CountCorrectModel {
  void compute(Kernels&, const TensorShapes& inputs, const OperationForward& memory) const override {
    const std::int64_t rows = inputs[0].dimensions[0], classes = inputs[0].dimensions[1];
    std::int64_t hits = 0;
    for (std::int64_t row = 0; row < rows; ++row) {
      const float* values = memory.inputs[0].data<float>() + row * classes;
      const std::int64_t label = label_at(memory.inputs[1], row, classes);
      const bool largest = std::max_element(values, values + classes) == values + label;
      hits += largest && !std::isnan(values[label]) ? 1 : 0;
    }
    *memory.outputs[0].data<std::int64_t>() = hits;
  }
};

const Operations::Registration registration("cpu/count_correct", CountCorrectModel::description(),
                                            [](Params&) { return std::make_unique<CountCorrect>(); });

}  // namespace
}  // namespace trigram
