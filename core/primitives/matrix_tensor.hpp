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

/// The tensor as a matrix: its modelled dimensions must be two or more, and its real ones too if it has real elements.
/// Else nothing.
std::optional<MatrixTensor> as_matrix(const Tensor& tensor);

/// Reserves `count` elements at the end of the shape `planned`, which grows; Tensor::of slices them from a buffer of
/// that shape.
Tensor next_share(Shape& planned, std::int64_t count, std::int64_t modelled_count);

}  // namespace trigram
