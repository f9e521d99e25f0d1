// Norms of rows and columns of matrices on host memory.
#include "kernels/lines.hpp"

#include "kernels/cpu/kernels.hpp"
#include "kernels/cpu/tree_sum.hpp"

namespace trigram {
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

}  // namespace trigram
