// A rule with a factor for each row or column of a matrix: a warp does a row at a time.
#pragma once

#include "kernels/cuda/warp_rows.hpp"
#include "kernels/rule.hpp"

namespace trigram::cuda {

/// Of the factors, one belongs to all of a row, or to all of a column.
template <class Rule>
__global__ void __launch_bounds__(block_threads)
    combine_with_lines(const __grid_constant__ Rule rule, float* values, std::int64_t rows, std::int64_t columns,
                       bool by_rows, const float* factors) {
  for (std::int64_t row = first_row(); row < rows; row += row_step()) {
    float* const of_row = values + row * columns;
    for (std::int64_t i = threadIdx.x % warp_lanes; i < columns; i += warp_lanes) {
      float element[] = {factors[by_rows ? row : i], of_row[i]};
      call_rule(rule, element);
      of_row[i] = element[1];
    }
  }
}

template <class Rule>
void run_rule_by_lines(const char* operation, const CudaKernels& kernels, const Rule& rule, Lines lines,
                       const Buffer& factors, const Buffer& matrix) {
  const bool by_rows = lines == Lines::rows;
  const std::int64_t other = matrix.count() / factors.count();
  const std::int64_t rows = by_rows ? factors.count() : other, columns = by_rows ? other : factors.count();
  launch(operation, kernels, combine_with_lines<Rule>, Work{rows, tree_warps}, block_threads, rule,
         matrix.data<float>(), rows, columns, by_rows, factors.data<float>());
}

}  // namespace trigram::cuda
