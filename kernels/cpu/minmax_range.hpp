// The smallest and the largest value of a vector, in one pass.
#pragma once

#include <cstdint>

#include "kernels/cpu/vectorised.hpp"

namespace trigram {

/// Both are NaN where any value is NaN or infinite, or where their difference overflows.
struct ValueRange {
  float smallest = 0;
  float largest = 0;
};

/// The range of `count` ≥ 1 values.
ValueRange value_range(Instructions instructions, const float* values, std::int64_t count);

}  // namespace trigram
