// The matrix product, by Eigen on one thread.
#define EIGEN_DONT_PARALLELIZE
#include <Eigen/Core>

#include "kernels/cpu/kernels.hpp"

namespace trigram {
namespace {

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

template <class Left, class Right>
void multiply_add(const GemmShape& shape, const Left& a, const Right& b, Eigen::Map<Matrix>& c) {
  if (shape.beta == 0.0F) {
    c.noalias() = shape.alpha * (a * b);
  } else {
    if (shape.beta != 1.0F) c *= shape.beta;
    c.noalias() += shape.alpha * (a * b);
  }
}

}  // namespace

void CpuKernels::gemm(const GemmShape& shape, Buffer a, Buffer b, Buffer c) {
  using View = Eigen::Map<const Matrix>;
  const View left(a.data<float>(), shape.transpose_a ? shape.k : shape.m, shape.transpose_a ? shape.m : shape.k);
  const View right(b.data<float>(), shape.transpose_b ? shape.n : shape.k, shape.transpose_b ? shape.k : shape.n);
  Eigen::Map<Matrix> result(c.data<float>(), shape.m, shape.n);
  if (shape.transpose_a && shape.transpose_b) return multiply_add(shape, left.transpose(), right.transpose(), result);
  if (shape.transpose_a) return multiply_add(shape, left.transpose(), right, result);
  if (shape.transpose_b) return multiply_add(shape, left, right.transpose(), result);
  multiply_add(shape, left, right, result);
}

}  // namespace trigram
