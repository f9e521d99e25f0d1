// Operations by rows and columns of matrices against loops in plain arithmetic.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/values/error.hpp"
#include "tests/kernels/test_device.hpp"

namespace trigram::lines_test {
namespace {

using Floats = std::vector<float>;

/// Rows and columns of matrices: single ones, more than a warp has lanes, and lines longer than a block of the tree.
const std::pair<std::int64_t, std::int64_t> sizes[] = {{1, 1}, {1, 7}, {5, 1}, {3, 40}, {70, 33}, {2, 9001}, {8200, 3}};

std::size_t line_of(Lines by, std::size_t element, std::int64_t columns) {
  const auto width = static_cast<std::size_t>(columns);
  return by == Lines::rows ? element / width : element % width;
}

class MatrixLines : public testing::Test {
 protected:
  Floats norms(Lines by, const Floats& matrix, std::int64_t lines) {
    const OwnedBuffer found = device_.hold(Floats(static_cast<std::size_t>(lines), -1.0F));
    device_.norms(by, device_.hold(matrix), found);
    return device_.values(found);
  }
  TestDevice device_;
};

TEST_F(MatrixLines, NormsAreEuclideanLengths) {
  EXPECT_EQ(norms(Lines::rows, {3, 4, 0, 0, -5, 12}, 3), (Floats{5, 0, 13}));
  EXPECT_EQ(norms(Lines::columns, {3, 4, 0, 0, 4, 3}, 2), (Floats{5, 5}));
  for (const auto& [rows, columns] : sizes) {
    const Floats matrix = random_vector(rows * columns, 3);
    for (const Lines by : {Lines::rows, Lines::columns}) {
      const std::int64_t lines = by == Lines::rows ? rows : columns;
      std::vector<double> squares(static_cast<std::size_t>(lines));
      for (std::size_t i = 0; i < matrix.size(); ++i)
        squares[line_of(by, i, columns)] += std::pow(static_cast<double>(matrix[i]), 2);
      const Floats found = norms(by, matrix, lines);
      for (std::size_t line = 0; line < squares.size(); ++line)
        ASSERT_FLOAT_EQ(found[line], static_cast<float>(std::sqrt(squares[line])))
            << rows << " x " << columns << ", line " << line;
    }
  }
}

TEST_F(MatrixLines, NormsNeitherOverflowNorVanish) {
  for (const float size : {1e-37F, 1e-30F, 1e30F, 2e38F})
    EXPECT_FLOAT_EQ(norms(Lines::rows, {size, size, size, size / 2}, 2)[0] / size, std::sqrt(2.0F)) << size;
  constexpr float infinity = std::numeric_limits<float>::infinity();
  EXPECT_THAT(norms(Lines::columns, {std::nanf(""), -infinity, 1, 1, 1, 2}, 3),
              testing::ElementsAre(testing::IsNan(), infinity, std::sqrt(5.0F)));
}

// Squares whose sum lies half a unit of f64 from where the f32 norm rounds up: lanes 2 and 18 of the tree hold 3/8 of a
// unit of the first lane each, which is lost where they are not added to each other first.
TEST_F(MatrixLines, NormsAddSquaresByTheTree) {
  Floats line(512, 0.0F);
  const float first[] = {1.0F, 0x1p-12F, 0x1p-12F, 0x1p-24F, 0x1p-26F};
  const float small[] = {0x1p-27F, 0x1p-28F, 0x1p-28F};
  for (std::size_t row = 0; row < std::size(first); ++row) line[32 * row] = first[row];
  for (std::size_t row = 0; row < std::size(small); ++row) line[32 * row + 2] = line[32 * row + 18] = small[row];
  Floats rows = line, columns;
  rows.insert(rows.end(), line.begin(), line.end());
  for (const float value : line) columns.insert(columns.end(), 2, value);
  const Floats expected(2, 1.0F + 0x1p-23F);
  EXPECT_EQ(norms(Lines::rows, rows, 2), expected);
  EXPECT_EQ(norms(Lines::columns, columns, 2), expected);
}

TEST_F(MatrixLines, EachLineIsMultipliedOrDividedByItsOwnNumber) {
  for (const auto& [rows, columns] : sizes) {
    const Floats matrix = random_vector(rows * columns, 1);
    for (const Lines by : {Lines::rows, Lines::columns}) {
      const Floats factors = random_vector(by == Lines::rows ? rows : columns, 2);
      const OwnedBuffer product = device_.hold(matrix), quotient = device_.hold(matrix),
                        of_lines = device_.hold(factors);
      device_.multiply_lines(by, of_lines, product);
      device_.divide_lines(by, of_lines, quotient);
      const Floats products = device_.values(product), quotients = device_.values(quotient);
      for (std::size_t i = 0; i < matrix.size(); ++i) {
        const float factor = factors[line_of(by, i, columns)];
        ASSERT_EQ(products[i], factor * matrix[i]) << rows << " x " << columns << ", element " << i;
        ASSERT_EQ(quotients[i], matrix[i] / factor) << rows << " x " << columns << ", element " << i;
      }
    }
  }
}

TEST_F(MatrixLines, ColumnsDividedByTheirNormsHaveLengthOne) {
  const OwnedBuffer matrix = device_.hold(random_vector(50 * 6, 4)), found = device_.hold(Floats(6));
  device_.norms(Lines::columns, matrix, found);
  device_.divide_lines(Lines::columns, found, matrix);
  for (const float norm : norms(Lines::columns, device_.values(matrix), 6)) EXPECT_NEAR(norm, 1, 1e-6);
}

TEST_F(MatrixLines, EmptyLinesHaveNoLength) {
  EXPECT_EQ(norms(Lines::rows, {}, 3), (Floats{0, 0, 0}));
  EXPECT_EQ(norms(Lines::columns, {}, 0), Floats());
  device_.multiply_lines(Lines::rows, device_.hold(Floats{2, 3}), device_.hold(Floats()));
}

/// All operations by lines of a matrix that lies `offset` elements into its memory.
std::vector<std::uint32_t> bits_on(TestDevice& device, Lines by, const Floats& values, std::int64_t lines,
                                   std::int64_t offset) {
  const auto count = static_cast<std::int64_t>(values.size());
  const OwnedBuffer memory = device.allocate(Shape::of(count + offset, DType::f32));
  const OwnedBuffer found = device.allocate(Shape::of(lines, DType::f32));
  const Buffer matrix = memory.view().slice(offset, count);
  device.upload(std::as_bytes(std::span(values)), matrix);
  device.norms(by, matrix, found);
  Floats all = device.values(found);
  device.divide_lines(by, found, matrix);
  device.multiply_lines(by, device.hold(random_vector(lines, 6)), matrix);
  const Floats changed = device.values(matrix);
  all.insert(all.end(), changed.begin(), changed.end());
  return bits_of(all);
}

// Lines of more than one block of the tree, more of them than a grid takes at once, and numbers that are none.
TEST_F(MatrixLines, HaveTheSameBitsOnEveryKindOfDevice) {
  TestDevice plain(Instructions::portable);
  for (const auto& [rows, columns] : {std::pair{1, 40001}, {40001, 1}, {33, 65}, {3, 4097}, {9000, 5}, {7, 1}}) {
    Floats values = random_vector(rows * columns, 1);
    for (std::size_t i = 5; i < values.size(); i += 997) values[i] = i % 2 == 0 ? 1e-40F : std::nanf("");
    for (const Lines by : {Lines::rows, Lines::columns}) {
      const std::int64_t lines = by == Lines::rows ? rows : columns;
      for (const std::int64_t offset : {0, 1})
        ASSERT_EQ(bits_on(device_, by, values, lines, offset), bits_on(plain, by, values, lines, offset))
            << rows << " x " << columns << " at " << offset;
    }
  }
}

TEST_F(MatrixLines, WhatIsNoMatrixOfSoManyLinesIsRefused) {
  const OwnedBuffer three = device_.hold(Floats{1, 2, 3}), none = device_.hold(Floats());
  const OwnedBuffer matrix = device_.hold(Floats(8)), half = device_.allocate(Shape::of(2, DType::f16));
  EXPECT_THAT([&] { device_.norms(Lines::rows, matrix, three); },
              testing::ThrowsMessage<Error>(testing::HasSubstr("norms: 8 elements of f32 are no matrix of 3 rows")));
  EXPECT_THAT([&] { device_.multiply_lines(Lines::columns, three, matrix); },
              testing::ThrowsMessage<Error>(testing::HasSubstr("are no matrix of 3 columns")));
  EXPECT_THROW(device_.divide_lines(Lines::columns, none, matrix), Error);
  EXPECT_THROW(device_.divide_lines(Lines::columns, half, matrix), Error) << "lines of f16";
}

}  // namespace
}  // namespace trigram::lines_test
