// Orthonormal columns of many matrices: a block of threads each, in as few launches as their addresses fit.
#include "kernels/cuda/tree_sum.hpp"
#include "kernels/orthonormal.hpp"

namespace trigram {
namespace cuda {
namespace {

/// What fits, with the rest, into the 4 KiB that all arguments of a kernel may take.
constexpr int most_matrices = 150;

struct Matrices {
  float* values[most_matrices];
  std::int64_t rows[most_matrices];
  std::int64_t columns[most_matrices];
  int count = 0;
};

/// All threads of a block, which must call each function together.
struct Block {
  double* room;  ///< for tree_total

  template <class Term>
  __device__ __forceinline__ double sum(std::int64_t count, const Term& term) const {
    const std::int64_t partials = tree_partials(count);
    for (std::int64_t partial = 0; partial < partials; ++partial) {
      const double total = tree_partial(count, partial, term);
      if (threadIdx.x == 0) room[partial] = total;
    }
    __syncthreads();
    const double total = tree_total(room, partials);
    __syncthreads();
    return total;
  }
  template <class Body>
  __device__ __forceinline__ void each(std::int64_t count, const Body& body) const {
    for (std::int64_t i = threadIdx.x; i < count; i += block_threads) body(i);
    __syncthreads();
  }
};

__global__ void __launch_bounds__(block_threads)
    orthonormalise_matrices(const __grid_constant__ Matrices matrices, double* rooms, std::int64_t room) {
  const Block block{rooms + blockIdx.x * room};
  for (int i = static_cast<int>(blockIdx.x); i < matrices.count; i += static_cast<int>(gridDim.x)) {
    OrthonormalColumns<Block>{block, matrices.values[i], matrices.rows[i], matrices.columns[i]}.run();
  }
}

void orthonormalise_all(CudaKernels& kernels, const Matrices& matrices) {
  const std::int64_t* const rows = matrices.rows;
  const auto room = static_cast<std::int64_t>(tree_room(tree_partials(*std::max_element(rows, rows + matrices.count))));
  auto* rooms = static_cast<double*>(kernels.scratch(static_cast<std::size_t>(matrices.count * room) * sizeof(double)));
  launch("orthonormalise", kernels, orthonormalise_matrices, matrices.count, block_threads, matrices, rooms, room);
}

}  // namespace
}  // namespace cuda

void CudaKernels::orthonormalise(std::span<const TallMatrix> matrices) {
  cuda::Matrices some;
  for (const TallMatrix& matrix : matrices) {
    some.values[some.count] = matrix.values.data<float>();
    some.rows[some.count] = matrix.values.count() / matrix.columns;
    some.columns[some.count] = matrix.columns;
    if (++some.count < cuda::most_matrices) continue;
    cuda::orthonormalise_all(*this, some);
    some.count = 0;
  }
  if (some.count > 0) cuda::orthonormalise_all(*this, some);
}

}  // namespace trigram
