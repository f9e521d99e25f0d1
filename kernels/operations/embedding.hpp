// Embedding: the rows of a table at some positions, in their order. The gradient of the table is, for each of its rows,
// the sum over the positions that named it, in their order; 0 where none did. A position outside the table is an Error.
#pragma once

#include "core/step/operation.hpp"

namespace trigram {

/// Shapes and work.
class EmbeddingModel : public Operation {
 public:
  static Description description() { return {"rows of a table, by their positions"}; }

  std::vector<OperationInput> inputs() const override { return {{"table"}, {"positions", InputGradient::none}}; }
  OperationShapes shapes(const TensorShapes& inputs) const override {
    const Dimensions &table = inputs[0].dimensions, &positions = inputs[1].dimensions;
    require(inputs[0].dtype == DType::f32 && (inputs[1].dtype == DType::i32 || inputs[1].dtype == DType::i64),
            "the table must be f32, positions i32 or i64");
    require(table.size() == 2 && table[0] > 0 && table[1] > 0, "a table has rows and columns");
    Dimensions rows = positions;
    rows.push_back(table[1]);
    return {.outputs = {{rows}}, .positions = table[0]};
  }
  OperationWork work(const TensorShapes& inputs) const override {
    const TensorShape rows = shapes(inputs).outputs[0];
    const double read = inputs[1].bytes() + rows.bytes();
    return {{0, read + rows.bytes()}, {{static_cast<double>(rows.count()), read + inputs[0].bytes()}, {}}};
  }
  std::vector<TensorShapes> trials() const override {
    return {{{{11, 7}}, {{50}, DType::i32}},
            {{{3, 64}}, {{4, 5}, DType::i64}},
            {{{300, 1}}, {{2}, DType::i32}},
            {{{3, 4}}, {{0}, DType::i32}}};
  }
};

}  // namespace trigram
