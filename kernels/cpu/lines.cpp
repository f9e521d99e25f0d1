// Norms of rows and columns of matrices on host memory, and products and quotients by them.
#include "kernels/lines.hpp"

#include "kernels/cpu/kernels.hpp"
#include "kernels/cpu/tree_sum.hpp"

namespace trigram {
namespace {

/// values[row, column] = combine(of_lines[row or column], values[row, column]).
template <class Combine>
void combine_lines(Instructions instructions, Lines lines, Buffer of_lines, Buffer matrix, Combine combine) {
  const float* factors = of_lines.data<float>();
  float* values = matrix.data<float>();
  const std::int64_t other = matrix.count() / of_lines.count();
  const bool by_rows = lines == Lines::rows;
  const std::int64_t rows = by_rows ? of_lines.count() : other, columns = by_rows ? other : of_lines.count();
  vectorised(instructions, [=]() TRIGRAM_INLINE {
    for (std::int64_t row = 0; row < rows; ++row) {
      float* const of_row = values + row * columns;
      if (by_rows) {
        for (std::int64_t i = 0; i < columns; ++i) of_row[i] = combine(factors[row], of_row[i]);
      } else {
        for (std::int64_t i = 0; i < columns; ++i) of_row[i] = combine(factors[i], of_row[i]);
      }
    }
  });
}

}  // namespace

void CpuKernels::norms(Lines lines, Buffer matrix, Buffer norms) {
  const float* values = matrix.data<float>();
  float* to = norms.data<float>();
  const LineLayout layout(lines, norms.count(), matrix.count());
  vectorised(instructions_, [=]() TRIGRAM_INLINE {
    for (std::int64_t line = 0; line < layout.count; ++line) {
      const float* const first = values + line * layout.step;
      to[line] = norm_of(tree_sum(layout.length, [=](std::int64_t i) TRIGRAM_INLINE {
        const auto value = static_cast<double>(first[i * layout.stride]);
        return value * value;
      }));
    }
  });
}

void CpuKernels::multiply_lines(Lines lines, Buffer factors, Buffer matrix) {
  combine_lines(instructions_, lines, factors, matrix, [](float a, float b) TRIGRAM_INLINE { return a * b; });
}

void CpuKernels::divide_lines(Lines lines, Buffer divisors, Buffer matrix) {
  combine_lines(instructions_, lines, divisors, matrix, [](float a, float b) TRIGRAM_INLINE { return b / a; });
}

}  // namespace trigram
