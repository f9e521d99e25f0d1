// The loss and the score of a classifier.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "kernels/cpu/index.hpp"
#include "kernels/cpu/kernels.hpp"
#include "kernels/cpu/tree_sum.hpp"

namespace trigram {
namespace {

std::int64_t label_at(const Buffer& labels, std::int64_t row, std::int64_t classes) {
  const std::int64_t label = index_at(labels, row);
  if (label < 0 || label >= classes) {
    throw Error("label " + std::to_string(label) + " of row " + std::to_string(row) + " is none of " +
                std::to_string(classes) + " classes");
  }
  return label;
}

/// Turns one row of logits into weight·(softmax − onehot); returns its cross-entropy ln Σ exp(z − max) − (z_label −
/// max).
double softmax_row(float* row, std::int64_t classes, std::int64_t label, float weight) {
  const float largest = *std::max_element(row, row + classes);
  const double chosen = static_cast<double>(row[label]) - static_cast<double>(largest);
  double sum = 0.0;
  for (std::int64_t i = 0; i < classes; ++i) {
    row[i] = std::exp(row[i] - largest);
    sum += static_cast<double>(row[i]);
  }
  const auto inverse = static_cast<float>(1.0 / sum);
  for (std::int64_t i = 0; i < classes; ++i) row[i] = weight * (row[i] * inverse - (i == label ? 1.0F : 0.0F));
  return std::log(sum) - chosen;
}

}  // namespace

void CpuKernels::softmax_cross_entropy(Buffer logits, Buffer labels, float weight, Buffer loss) {
  const std::int64_t rows = labels.count();
  const std::int64_t classes = rows == 0 ? 0 : logits.count() / rows;
  std::vector<double> losses(static_cast<std::size_t>(rows));
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t label = label_at(labels, row, classes);
    losses[static_cast<std::size_t>(row)] = softmax_row(logits.data<float>() + row * classes, classes, label, weight);
  }
  const double total = tree_sum(rows, [&](std::int64_t row) { return losses[static_cast<std::size_t>(row)]; });
  *loss.data<float>() = static_cast<float>(static_cast<double>(weight) * total);
}

void CpuKernels::count_correct(Buffer logits, Buffer labels, Buffer correct) {
  const std::int64_t rows = labels.count();
  const std::int64_t classes = rows == 0 ? 0 : logits.count() / rows;
  std::int64_t hits = 0;
  for (std::int64_t row = 0; row < rows; ++row) {
    const float* values = logits.data<float>() + row * classes;
    const std::int64_t label = label_at(labels, row, classes);
    const bool largest = std::max_element(values, values + classes) == values + label;
    hits += largest && !std::isnan(values[label]) ? 1 : 0;
  }
  *correct.data<std::int64_t>() = hits;
}

}  // namespace trigram
