// Orthonormal columns on host memory, a matrix after the other.
#include "kernels/orthonormal.hpp"

#include "kernels/cpu/kernels.hpp"
#include "kernels/cpu/tree_sum.hpp"

namespace trigram {
namespace {

struct OneThread {
  template <class Term>
  double sum(std::int64_t count, const Term& term) const {
    return tree_sum(count, term);
  }
  template <class Body>
  void each(std::int64_t count, const Body& body) const {
    for (std::int64_t i = 0; i < count; ++i) body(i);
  }
};

}  // namespace

void CpuKernels::orthonormalise(std::span<const TallMatrix> matrices) {
  for (const TallMatrix& matrix : matrices) {
    const std::int64_t rows = matrix.values.count() / matrix.columns;
    OrthonormalColumns<OneThread>{{}, matrix.values.data<float>(), rows, matrix.columns}.run();
  }
}

}  // namespace trigram
