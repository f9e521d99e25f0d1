// Operations of a Device on host memory against plain arithmetic.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/values/error.hpp"
#include "kernels/scalar.hpp"
#include "tests/kernels/test_device.hpp"

namespace trigram {
namespace {

using Floats = std::vector<float>;

class Arithmetic : public testing::Test {
 protected:
  TestDevice device_;
  OwnedBuffer one_ = device_.allocate(Shape::of(1, DType::f32));
};

TEST_F(Arithmetic, ElementwiseOperations) {
  const OwnedBuffer x = device_.hold({1, 2, 3});
  const OwnedBuffer y = device_.hold({10, 20, 30});
  device_.axpby(2, x, 0.5F, y);
  EXPECT_EQ(device_.values(y), (Floats{7, 14, 21}));
  device_.scale(y, -1);
  EXPECT_EQ(device_.values(y), (Floats{-7, -14, -21}));
  device_.copy(x, y);
  EXPECT_EQ(device_.values(y), (Floats{1, 2, 3}));
  device_.fill(y, 4);
  EXPECT_EQ(device_.values(y), (Floats{4, 4, 4}));
}

TEST_F(Arithmetic, ProductsQuotientsAndRoots) {
  const OwnedBuffer x = device_.hold({2, -4, 0.5F}), y = device_.hold({10, 20, 30});
  device_.multiply(x, y);
  EXPECT_EQ(device_.values(y), (Floats{20, -80, 15}));
  device_.divide(x, y);
  EXPECT_EQ(device_.values(y), (Floats{10, 20, 30}));
  const OwnedBuffer squares = device_.hold({0, 9, 2});
  device_.root(squares);
  EXPECT_EQ(device_.values(squares), (Floats{0, 3, std::sqrt(2.0F)}));
}

TEST_F(Arithmetic, WholeNumbersAreDividedTowardsZero) {
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
  const OwnedBuffer longs = device_.hold(std::vector<std::int64_t>{7, -7, least, 0}, DType::i64);
  device_.divide_whole(longs, 3);
  EXPECT_EQ(device_.values<std::int64_t>(longs), (std::vector<std::int64_t>{2, -2, least / 3, 0}));
  const OwnedBuffer bytes = device_.hold(std::vector<std::uint8_t>(1001, 255), DType::u8);
  device_.divide_whole(bytes, 2);
  EXPECT_EQ(device_.values<std::uint8_t>(bytes), std::vector<std::uint8_t>(1001, 127));
  device_.divide_whole(bytes, 1000);
  EXPECT_EQ(device_.values<std::uint8_t>(bytes), std::vector<std::uint8_t>(1001, 0));
  const OwnedBuffer ints = device_.hold(std::vector<std::int32_t>{100, -101}, DType::i32);
  device_.divide_whole(ints, 10);
  EXPECT_EQ(device_.values<std::int32_t>(ints), (std::vector<std::int32_t>{10, -10}));
  EXPECT_THROW(device_.divide_whole(device_.hold({1}), 2), Error);
  EXPECT_THROW(device_.divide_whole(ints, 0), Error);
}

TEST_F(Arithmetic, OneElementStandsForAll) {
  const OwnedBuffer four = device_.hold({4}), x = device_.hold({1, 2, 3}), y = device_.hold({10, 20, 30});
  device_.multiply(four, y);
  EXPECT_EQ(device_.values(y), (Floats{40, 80, 120}));
  device_.divide(four, y);
  EXPECT_EQ(device_.values(y), (Floats{10, 20, 30}));
  device_.add_scaled(four, x, y);
  EXPECT_EQ(device_.values(y), (Floats{14, 28, 42}));
  EXPECT_THROW(device_.add_scaled(x, x, y), Error) << "a factor of three elements";
  EXPECT_THROW(device_.multiply(device_.hold({1, 2}), y), Error);
}

TEST_F(Arithmetic, WeightedSumAddsInTheOrderGiven) {
  const OwnedBuffer large = device_.hold(Floats(2000, 1e8F));
  const OwnedBuffer one = device_.hold(Floats(2000, 1.0F));
  const OwnedBuffer minus = device_.hold(Floats(2000, -1e8F));
  const std::vector<float> weights = {1, 1, 1};
  device_.weighted_sum(std::vector<Buffer>{large, minus, one}, weights, one);
  EXPECT_EQ(device_.values(one), Floats(2000, 1.0F));
  device_.weighted_sum(std::vector<Buffer>{large, one, minus}, weights, minus);
  EXPECT_EQ(device_.values(minus), Floats(2000, 0.0F));
}

template <class T>
void expect_reductions(TestDevice& device, DType dtype, const std::vector<T>& x, const std::vector<T>& y) {
  const auto result = [&](ReduceOp op) {
    const OwnedBuffer out = device.hold(y, dtype);
    device.reduce(op, device.hold(x, dtype), out);
    return device.values<T>(out);
  };
  for (std::size_t i = 0; i < x.size(); ++i) {
    EXPECT_EQ(result(ReduceOp::sum)[i], static_cast<T>(x[i] + y[i]));
    EXPECT_EQ(result(ReduceOp::mean)[i], static_cast<T>(x[i] + y[i]));
    EXPECT_EQ(result(ReduceOp::min)[i], std::min(x[i], y[i]));
    EXPECT_EQ(result(ReduceOp::max)[i], std::max(x[i], y[i]));
  }
}

TEST_F(Arithmetic, ReducesEveryType) {
  expect_reductions<float>(device_, DType::f32, {1.5F, -2, 7}, {0.25F, 3, 7});
  expect_reductions<std::uint8_t>(device_, DType::u8, {1, 200, 7}, {2, 100, 7});
  expect_reductions<std::int32_t>(device_, DType::i32, {-5, 1 << 20, 7}, {3, 1 << 20, 7});
  expect_reductions<std::int64_t>(device_, DType::i64, {-5, 1LL << 40, 7}, {3, 1LL << 40, 7});
}

// 2049 lies between two f16 values and 257 between two bf16 values: the sum is rounded once, to even.
TEST_F(Arithmetic, ReducesHalvesInF32AndRoundsOnce) {
  const std::vector<std::uint16_t> f16 = {scalar::to_f16(2048).bits}, f16_one = {scalar::to_f16(1).bits};
  OwnedBuffer sum = device_.hold(f16, DType::f16);
  device_.reduce(ReduceOp::sum, device_.hold(f16_one, DType::f16), sum);
  EXPECT_EQ(device_.values<std::uint16_t>(sum), f16);
  const std::vector<std::uint16_t> bf16 = {scalar::to_bf16(256).bits}, bf16_one = {scalar::to_bf16(1).bits};
  sum = device_.hold(bf16, DType::bf16);
  device_.reduce(ReduceOp::sum, device_.hold(bf16_one, DType::bf16), sum);
  EXPECT_EQ(device_.values<std::uint16_t>(sum), bf16);
}

TEST_F(Arithmetic, MinAndMaxKeepANaNOfEitherSide) {
  const float nan = std::nanf("");
  for (const ReduceOp op : {ReduceOp::min, ReduceOp::max}) {
    const OwnedBuffer y = device_.hold({nan, 1});
    device_.reduce(op, device_.hold({1, nan}), y);
    for (const float value : device_.values(y)) EXPECT_TRUE(std::isnan(value));
  }
}

TEST_F(Arithmetic, ConvertsBetweenFloatingTypes) {
  const OwnedBuffer half = device_.allocate(Shape::of(3, DType::f16));
  const OwnedBuffer brain = device_.allocate(Shape::of(3, DType::bf16));
  const OwnedBuffer back = device_.allocate(Shape::of(3, DType::f32));
  device_.convert(device_.hold({0.5F, -3, 1.0F / 3.0F}), half);
  device_.convert(half, brain);
  device_.convert(brain, back);
  EXPECT_EQ(device_.values(back), (Floats{0.5F, -3, 0.333984375F}));
}

TEST_F(Arithmetic, DotDependsOnNoAddressAndNoInstructions) {
  TestDevice portable(Instructions::portable);
  for (const std::int64_t count : {0, 1, 33, 4097, 100003}) {
    const Floats x = random_vector(count, 1);
    device_.dot(device_.hold(x), device_.hold(x), one_);
    const float expected = device_.values(one_)[0];
    EXPECT_NEAR(expected, squared_norm(x), 1e-7 * squared_norm(x));
    for (const std::int64_t offset : {1, 3, 8}) {
      const OwnedBuffer room = portable.allocate(Shape::of(count + offset, DType::f32));
      const Buffer moved = room.view().slice(offset, count);
      portable.copy(portable.hold(x), moved);
      const OwnedBuffer result = portable.allocate(Shape::of(1, DType::f32));
      portable.dot(moved, moved, result);
      EXPECT_EQ(portable.values(result)[0], expected) << count << " at " << offset;
    }
  }
}

TEST_F(Arithmetic, GemmIsTheMatrixProductInEveryLayout) {
  const std::int64_t m = 5, n = 7, k = 11;
  const Floats a = random_vector(m * k, 1), b = random_vector(k * n, 2), c = random_vector(m * n, 3);
  for (const bool ta : {false, true}) {
    for (const bool tb : {false, true}) {
      const OwnedBuffer result = device_.hold(c);
      device_.gemm({m, n, k, ta, tb, 2.0F, 0.5F}, device_.hold(a), device_.hold(b), result);
      const Floats values = device_.values(result);
      for (std::int64_t i = 0; i < m; ++i) {
        for (std::int64_t j = 0; j < n; ++j) {
          double sum = 0;
          for (std::int64_t l = 0; l < k; ++l) {
            sum += static_cast<double>(a[static_cast<std::size_t>(ta ? l * m + i : i * k + l)]) *
                   static_cast<double>(b[static_cast<std::size_t>(tb ? j * k + l : l * n + j)]);
          }
          const auto place = static_cast<std::size_t>(i * n + j);
          EXPECT_NEAR(values[place], 2 * sum + 0.5 * static_cast<double>(c[place]), 1e-5);
        }
      }
    }
  }
}

// Each second row of one matrix and column of the other begins with NaN, which nothing may read for those before it.
TEST_F(Arithmetic, GemmTakesNothingFromBehindALine) {
  constexpr std::int64_t k = 11;
  for (const std::int64_t lines : {5, 20, 40, 60}) {
    for (const bool ta : {false, true}) {
      for (const bool tb : {false, true}) {
        Floats a(static_cast<std::size_t>(lines * k), 1.0F), b = a;
        for (std::int64_t line = 1; line < lines; line += 2) {
          a[static_cast<std::size_t>(ta ? line : line * k)] = std::nanf("");
          b[static_cast<std::size_t>(tb ? line * k : line)] = std::nanf("");
        }
        const OwnedBuffer result = device_.hold(Floats(static_cast<std::size_t>(lines * lines)));
        device_.gemm({lines, lines, k, ta, tb, 1.0F, 0.0F}, device_.hold(a), device_.hold(b), result);
        const Floats values = device_.values(result);
        for (std::int64_t i = 0; i < lines; i += 2)
          for (std::int64_t j = 0; j < lines; j += 2) ASSERT_EQ(values[static_cast<std::size_t>(i * lines + j)], k);
      }
    }
  }
}

TEST_F(Arithmetic, GemmWithoutInnerElementsScalesTheResult) {
  const OwnedBuffer empty = device_.allocate(Shape::of(0, DType::f32));
  const OwnedBuffer c = device_.hold({1, 2});
  device_.gemm({1, 2, 0, false, false, 1.0F, 3.0F}, empty, empty, c);
  EXPECT_EQ(device_.values(c), (Floats{3, 6}));
}

TEST_F(Arithmetic, BuffersThatDoNotFitAreRefused) {
  const OwnedBuffer three = device_.hold({1, 2, 3});
  const OwnedBuffer two = device_.hold({1, 2});
  const OwnedBuffer bytes = device_.allocate(Shape::of(3, DType::u8));
  EXPECT_THROW(device_.copy(three, two), Error);
  EXPECT_THROW(device_.axpby(1, three, 1, two), Error);
  EXPECT_THROW(device_.reduce(ReduceOp::sum, three, bytes), Error);
  EXPECT_THROW(device_.scale(bytes, 2), Error);
  EXPECT_THROW(device_.dot(three, three, two), Error);
  EXPECT_THROW(device_.gemm({2, 2, 2, false, false, 1, 0}, three, three, three), Error);
  EXPECT_THROW(device_.upload({}, three), Error);
  EXPECT_THROW(device_.adam({three, three, three, three}, {.step = 0}), Error);
}

}  // namespace
}  // namespace trigram
