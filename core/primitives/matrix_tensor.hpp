// Tensors of a bucket as matrices, for methods that factor, orthogonalise or scale them, and the plan of what such
// methods exchange.
#pragma once

#include <optional>

#include "core/step/bucket.hpp"

namespace trigram {

/// A row-major matrix of a tensor: its first dimension × all others, and no elements where it is a vector.
struct MatrixSize {
  std::int64_t rows = 0, columns = 0;

  explicit MatrixSize(const Dimensions& dimensions);
  bool empty() const { return rows == 0 || columns == 0; }
};

/// A tensor that is a matrix: what exists of it, and what costs.
struct MatrixTensor {
  Tensor tensor;
  MatrixSize real, modelled;
};

/// The tensor as a matrix; nothing where it is a vector. What costs as a matrix is one though nothing of it exists;
/// what has two dimensions and stands for a vector is a vector.
std::optional<MatrixTensor> as_matrix(const Tensor& tensor);

/// The next `count` elements of a buffer that is being planned, whose shape grows by them; `of` finds them in it.
Tensor next_share(Shape& planned, std::int64_t count, std::int64_t modelled_count);

}  // namespace trigram
