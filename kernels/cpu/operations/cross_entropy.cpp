// Cross-entropy on host memory.
#include "kernels/operations/cross_entropy.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/cpu/operations/label.hpp"
#include "kernels/cpu/tree_sum.hpp"

namespace trigram {
namespace {

/// Turns one row of logits into scale·(softmax − onehot); returns its cross-entropy ln Σ exp(z − max) − (z_label −
/// max).
double softmax_row(float* row, std::int64_t classes, std::int64_t label, float scale) {
  const float largest = *std::max_element(row, row + classes);
  const double chosen = static_cast<double>(row[label]) - static_cast<double>(largest);
  double sum = 0.0;
  for (std::int64_t i = 0; i < classes; ++i) {
    row[i] = std::exp(row[i] - largest);
    sum += static_cast<double>(row[i]);
  }
  const auto inverse = static_cast<float>(1.0 / sum);
  for (std::int64_t i = 0; i < classes; ++i) row[i] = scale * (row[i] * inverse - (i == label ? 1.0F : 0.0F));
  return std::log(sum) - chosen;
}

class CrossEntropy final : public CrossEntropyModel {
 public:
  using CrossEntropyModel::CrossEntropyModel;

 private:
  void compute(Kernels& kernels, const TensorShapes& inputs, const OperationForward& memory) const override {
    bring(kernels, memory.inputs[0], memory.saved[0]);
    const std::int64_t rows = inputs[0].dimensions[0], classes = inputs[0].dimensions[1];
    float* values = memory.saved[0].data<float>();
    std::vector<double> losses(static_cast<std::size_t>(rows));
    for (std::int64_t row = 0; row < rows; ++row) {
      const std::int64_t label = label_at(memory.inputs[1], row, classes);
      losses[static_cast<std::size_t>(row)] = softmax_row(values + row * classes, classes, label, scale());
    }
    const double total = tree_sum(rows, [&](std::int64_t row) { return losses[static_cast<std::size_t>(row)]; });
    *memory.outputs[0].data<float>() = static_cast<float>(static_cast<double>(scale()) * total);
  }
};

const Operations::Registration registration("cpu/cross_entropy", CrossEntropyModel::description(),
                                            [](Params& params) { return std::make_unique<CrossEntropy>(params); });

}  // namespace
}  // namespace trigram
