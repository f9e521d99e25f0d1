// Orthonormal columns by Gram-Schmidt, written once for all kinds of devices: whoever works on a matrix is a Team, one
// thread or a block of them.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/scalar.hpp"

namespace trigram {

/// A matrix in a team's hands, row-major. A Team has sum(count, term), Σ term(i) in f64 by the fixed tree and the same
/// in all its threads, and each(count, body), which calls body(i) for every i before any thread goes on.
template <class Team>
struct OrthonormalColumns {
  Team team;
  float* values;
  std::int64_t rows, columns;

  TRIGRAM_RULE double product(std::int64_t a, std::int64_t b) const {
    return team.sum(rows, [values = values, columns = columns, a, b](std::int64_t row) {
      return static_cast<double>(values[row * columns + a]) * static_cast<double>(values[row * columns + b]);
    });
  }

  /// x ← x − (xᵀp) p for every column p before x, twice: once is not enough where little of x is left.
  TRIGRAM_RULE void make_orthogonal(std::int64_t x) const {
    for (int pass = 0; pass < 2; ++pass) {
      for (std::int64_t p = 0; p < x; ++p) {
        const auto along = static_cast<float>(product(p, x));
        team.each(rows, [values = values, columns = columns, along, p, x](std::int64_t row) {
          values[row * columns + x] -= along * values[row * columns + p];
        });
      }
    }
  }

  /// The first row whose unit vector keeps 1/√(2·rows) of its length when it is made orthogonal to the columns before
  /// x: the mean of those lengths, squared, is 1 − x/rows, so there is one.
  TRIGRAM_RULE std::int64_t free_row(std::int64_t x) const {
    const double most = 1.0 - 0.5 / static_cast<double>(rows);
    for (std::int64_t row = 0; row + 1 < rows; ++row) {
      double taken = 0.0;
      for (std::int64_t p = 0; p < x; ++p) {
        const auto value = static_cast<double>(values[row * columns + p]);
        taken += value * value;
      }
      if (taken <= most) return row;
    }
    return rows - 1;
  }

  TRIGRAM_RULE void run() const {
    constexpr double dependent = 0x1p-40;  // of a squared length: what is left is rounding
    constexpr double infinite = 1e300;     // beyond any sum of squares of f32
    for (std::int64_t x = 0; x < columns; ++x) {
      const double before = product(x, x);
      make_orthogonal(x);
      double squared = product(x, x);
      if (squared <= dependent * before && before < infinite) {
        const std::int64_t unit = free_row(x);
        team.each(rows, [values = values, columns = columns, unit, x](std::int64_t row) {
          values[row * columns + x] = row == unit ? 1.0F : 0.0F;
        });
        make_orthogonal(x);
        squared = product(x, x);
      }
      const double length = std::sqrt(squared);
      team.each(rows, [values = values, columns = columns, length, x](std::int64_t row) {
        float& value = values[row * columns + x];
        value = static_cast<float>(static_cast<double>(value) / length);
      });
    }
  }
};

}  // namespace trigram
