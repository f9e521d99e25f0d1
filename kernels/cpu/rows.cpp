// Layers of small models: biases, activations, and rows of a table.
#include <cstring>
#include <string>

#include "core/error.hpp"
#include "kernels/cpu/index.hpp"
#include "kernels/cpu/kernels.hpp"

namespace trigram {

void CpuKernels::add_bias(Buffer bias, Buffer rows) {
  const std::int64_t columns = bias.count();
  const float* terms = bias.data<float>();
  float* values = rows.data<float>();
  vectorised(instructions_, [=, count = rows.count()]() TRIGRAM_INLINE {
    for (std::int64_t begin = 0; begin < count; begin += columns) {
      for (std::int64_t i = 0; i < columns; ++i) values[begin + i] += terms[i];
    }
  });
}

void CpuKernels::column_sums(Buffer rows, Buffer sums) {
  const std::int64_t columns = sums.count();
  const float* values = rows.data<float>();
  float* totals = sums.data<float>();
  std::memset(totals, 0, static_cast<std::size_t>(sums.bytes()));
  vectorised(instructions_, [=, count = rows.count()]() TRIGRAM_INLINE {
    for (std::int64_t begin = 0; begin < count; begin += columns) {
      for (std::int64_t i = 0; i < columns; ++i) totals[i] += values[begin + i];
    }
  });
}

void CpuKernels::relu(Buffer x) {
  float* values = x.data<float>();
  vectorised(instructions_, [values, count = x.count()]() TRIGRAM_INLINE {
    // Written so that a NaN stays.
    for (std::int64_t i = 0; i < count; ++i) values[i] = values[i] < 0.0F ? 0.0F : values[i];
  });
}

void CpuKernels::relu_backward(Buffer activated, Buffer gradient) {
  const float* outputs = activated.data<float>();
  float* values = gradient.data<float>();
  vectorised(instructions_, [outputs, values, count = gradient.count()]() TRIGRAM_INLINE {
    for (std::int64_t i = 0; i < count; ++i) values[i] = outputs[i] == 0.0F ? 0.0F : values[i];
  });
}

void CpuKernels::gather_rows(Buffer table, Buffer indices, Buffer rows) {
  const std::int64_t bytes = rows.bytes() / indices.count();
  const std::int64_t known = bytes == 0 ? 0 : table.bytes() / bytes;
  const auto* from = static_cast<const char*>(table.raw());
  auto* to = static_cast<char*>(rows.raw());
  for (std::int64_t row = 0; row < indices.count(); ++row) {
    const std::int64_t index = index_at(indices, row);
    if (index < 0 || index >= known) {
      throw Error("gather_rows: index " + std::to_string(index) + " at " + std::to_string(row) + " leaves a table of " +
                  std::to_string(known) + " rows");
    }
    std::memcpy(to + row * bytes, from + index * bytes, static_cast<std::size_t>(bytes));
  }
}

}  // namespace trigram
