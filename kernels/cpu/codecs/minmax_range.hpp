// The smallest and the largest value of a vector, in one pass.
#pragma once

#include <cstdint>

#include "kernels/codecs/minmax_uint8.hpp"
#include "kernels/cpu/vectorised.hpp"

namespace trigram {

/// The header of `count` ≥ 1 values.
ValueRange value_range(Instructions instructions, const float* values, std::int64_t count);

}  // namespace trigram
