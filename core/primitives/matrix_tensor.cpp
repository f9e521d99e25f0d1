#include "core/primitives/matrix_tensor.hpp"

namespace trigram {

MatrixSize::MatrixSize(const Dimensions& dimensions) {
  if (dimensions.size() < 2) return;
  rows = dimensions[0];
  columns = 1;
  for (std::size_t i = 1; i < dimensions.size(); ++i) columns *= dimensions[i];
}

std::optional<MatrixTensor> as_matrix(const Tensor& tensor) {
  const MatrixSize real(tensor.dimensions), modelled(tensor.modelled_dimensions);
  if (modelled.empty() || (tensor.count > 0 && real.empty())) return std::nullopt;
  return MatrixTensor{tensor, real, modelled};
}

Tensor next_share(Shape& planned, std::int64_t count, std::int64_t modelled_count) {
  Tensor next;
  next.offset = planned.count;
  next.count = count;
  next.modelled_count = modelled_count;
  planned.count += count;
  planned.modelled_count += modelled_count;
  return next;
}

}  // namespace trigram
