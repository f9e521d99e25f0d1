// Orthonormal columns: against Gram-Schmidt in f64, and what becomes of columns that depend on others.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/values/error.hpp"
#include "tests/kernels/test_device.hpp"

namespace trigram {
namespace {

using Floats = std::vector<float>;

/// Row-major.
struct Matrix {
  std::int64_t columns = 0;
  Floats values;

  std::int64_t rows() const { return static_cast<std::int64_t>(values.size()) / columns; }
  double at(std::int64_t row, std::int64_t column) const {
    return static_cast<double>(values[static_cast<std::size_t>(row * columns + column)]);
  }
  double dot(std::int64_t a, std::int64_t b) const {
    double sum = 0;
    for (std::int64_t row = 0; row < rows(); ++row) sum += at(row, a) * at(row, b);
    return sum;
  }
  /// The largest deviation of VᵀV from the identity.
  double skew() const {
    double worst = 0;
    for (std::int64_t a = 0; a < columns; ++a) {
      for (std::int64_t b = 0; b < columns; ++b) worst = std::max(worst, std::abs(dot(a, b) - (a == b ? 1 : 0)));
    }
    return worst;
  }
  /// How far column `column` of `other` is from the span of these columns, as a share of its length.
  double misses(const Matrix& other, std::int64_t column) const {
    std::vector<double> rest;
    for (std::int64_t row = 0; row < rows(); ++row) rest.push_back(other.at(row, column));
    const auto length = [&] {
      double sum = 0;
      for (const double value : rest) sum += value * value;
      return std::sqrt(sum);
    };
    const double whole = length();
    for (std::int64_t p = 0; p < columns; ++p) {
      double along = 0;
      for (std::int64_t row = 0; row < rows(); ++row) along += at(row, p) * rest[static_cast<std::size_t>(row)];
      for (std::int64_t row = 0; row < rows(); ++row) rest[static_cast<std::size_t>(row)] -= along * at(row, p);
    }
    return length() / whole;
  }
};

class Orthonormal : public testing::Test {
 protected:
  Matrix of(const Matrix& matrix) {
    const OwnedBuffer x = device_.hold(matrix.values);
    device_.orthonormalise(std::vector<TallMatrix>{{x, matrix.columns, matrix.columns}});
    return {matrix.columns, device_.values(x)};
  }
  TestDevice device_;
};

TEST_F(Orthonormal, ColumnsAreThoseOfGramAndSchmidt) {
  for (const auto& [rows, columns] : {std::pair{1, 1}, {7, 3}, {16, 16}, {5000, 4}}) {
    const Matrix x{columns, random_vector(rows * columns, 3)}, q = of(x);
    EXPECT_LT(q.skew(), 1e-6) << rows << " x " << columns;
    for (std::int64_t column = 0; column < columns; ++column) {
      // Each is a combination of those up to it, and not turned round.
      EXPECT_LT(q.misses(x, column), 1e-6);
      double along = 0, before = 0;
      for (std::int64_t row = 0; row < rows; ++row) along += q.at(row, column) * x.at(row, column);
      for (std::int64_t later = column + 1; later < columns; ++later) {
        double cosine = 0;
        for (std::int64_t row = 0; row < rows; ++row) cosine += q.at(row, later) * x.at(row, column);
        before = std::max(before, std::abs(cosine));
      }
      EXPECT_GT(along, 0);
      EXPECT_LT(before, 1e-4) << "a later column is orthogonal to this one";
    }
  }
}

TEST_F(Orthonormal, ColumnsThatHardlyDifferAreOrthogonalAllTheSame) {
  Matrix x{3, random_vector(300, 1)};
  for (std::size_t row = 0; row < 100; ++row) {
    x.values[3 * row + 1] = x.values[3 * row] + 1e-4F * x.values[3 * row + 1];
    x.values[3 * row + 2] = x.values[3 * row] + 1e-5F * x.values[3 * row + 2];
  }
  EXPECT_LT(of(x).skew(), 1e-6);
}

TEST_F(Orthonormal, AColumnThatDependsOnOthersBecomesTheFirstFreeUnitVector) {
  // Column 1 is twice column 0, which fills row 0 wholly: the first free row is 1.
  EXPECT_EQ(of({3, {1, 2, 5, 0, 0, 3, 0, 0, 4}}).values, (Floats{1, 0, 0, 0, 1, 0, 0, 0, 1}));
  EXPECT_EQ(of({2, {0, 0, 0, 0, 0, 0}}).values, (Floats{1, 0, 0, 1, 0, 0})) << "zeros";
  Matrix x{4, random_vector(400, 2)};
  for (std::size_t row = 0; row < 100; ++row) {
    x.values[4 * row + 1] = -7 * x.values[4 * row];
    x.values[4 * row + 3] = x.values[4 * row] - 0.3F * x.values[4 * row + 2];
  }
  const Matrix q = of(x);
  EXPECT_LT(q.skew(), 1e-6);
  for (std::int64_t column = 0; column < 4; ++column) EXPECT_LT(q.misses(x, column), 1e-6) << "still in the span";
}

TEST_F(Orthonormal, SizesOfAllKindsAreLegal) {
  for (const float size : {1e-30F, 1e-15F, 1e15F, 1e38F}) {
    const Floats values = {size, size, -size, size, size, 0};
    EXPECT_LT(of({2, values}).skew(), 1e-6) << size;
  }
}

TEST_F(Orthonormal, WhatIsNoNumberSpreads) {
  for (const float bad : {std::nanf(""), std::numeric_limits<float>::infinity()}) {
    const Matrix q = of({2, {bad, 1, 1, 2, 1, 3}});
    EXPECT_TRUE(std::isnan(q.dot(0, 0)));
    EXPECT_TRUE(std::isnan(q.dot(1, 1)));
  }
}

TEST_F(Orthonormal, WideMatricesAreRefused) {
  EXPECT_THROW(of({3, {1, 2, 3, 4, 5, 6}}), Error);
  EXPECT_THROW(device_.orthonormalise(std::vector<TallMatrix>{{device_.hold({1, 2, 3}), 2, 2}}), Error);
  device_.orthonormalise({});
}

}  // namespace
}  // namespace trigram
