// Standard normal numbers of a stream, on host memory.
#include "kernels/normal.hpp"

#include "kernels/cpu/kernels.hpp"
#include "kernels/philox.hpp"

namespace trigram {

void CpuKernels::fill_normal(Buffer x, const Key& key) {
  const PhiloxStream stream{Philox(key)};
  float* values = x.data<float>();
  std::uint32_t words[4];
  for (std::int64_t i = 0; i < x.count(); ++i) {
    if (i % 4 == 0) philox_block(stream, static_cast<std::uint64_t>(i / 4), words);
    values[i] = scalar::normal(words[i % 4]);
  }
}

}  // namespace trigram
