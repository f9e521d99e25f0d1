// What a loss and a score of classes look at: a row of logits a sample, and its label.
#pragma once

#include "core/step/operation.hpp"

namespace trigram {

/// Throws UsageError unless these are logits [rows, classes] of f32 and labels [rows] of whole numbers.
inline void require_classes(const TensorShapes& inputs) {
  const Dimensions &logits = inputs[0].dimensions, &labels = inputs[1].dimensions;
  require(inputs[0].dtype == DType::f32 && (inputs[1].dtype == DType::i32 || inputs[1].dtype == DType::i64),
          "logits must be f32, labels i32 or i64");
  require(logits.size() == 2 && labels.size() == 1 && labels[0] == logits[0],
          "logits must be rows of classes, labels one a row");
  require(logits[1] > 0, "there must be a class");
}

/// Logits and labels to try: few and many classes, labels of either type, one class, no rows.
inline std::vector<TensorShapes> class_trials() {
  const auto trial = [](std::int64_t rows, std::int64_t classes, DType label) {
    return TensorShapes{{{rows, classes}}, {{rows}, label}};
  };
  return {trial(83, 10, DType::i32), trial(5, 130, DType::i64), trial(3, 1, DType::i32), trial(0, 10, DType::i32)};
}

}  // namespace trigram
