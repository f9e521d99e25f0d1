// Rows and columns of a row-major matrix: where their elements are.
#pragma once

#include <cmath>

#include "kernels/block_sums.hpp"

namespace trigram {

/// The lines that an operation goes by, each of `length` elements that are `stride` apart; the next begins `step`
/// further.
struct LineLayout {
  std::int64_t count, length, stride, step;

  /// `lines` lines, at least one, of `elements` elements together.
  LineLayout(Lines by, std::int64_t lines, std::int64_t elements)
      : count(lines),
        length(elements / lines),
        stride(by == Lines::rows ? 1 : lines),
        step(by == Lines::rows ? length : 1) {}
};

/// The length of a vector whose squares have this sum.
TRIGRAM_RULE float norm_of(double squares) { return static_cast<float>(std::sqrt(squares)); }

}  // namespace trigram
