// Normal numbers against the exact distribution: single words, moments, quantiles and tails.
#include "kernels/normal.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "tests/kernels/test_device.hpp"

namespace trigram {
namespace {

/// x with Φ(x) = p < ½, by bisection of the C library's erfc.
double exact_quantile(double p) {
  double low = -40, high = 0;
  for (int i = 0; i < 200; ++i) {
    const double middle = (low + high) / 2;
    (std::erfc(-middle / std::numbers::sqrt2) / 2 < p ? low : high) = middle;
  }
  return low;
}

TEST(Logarithm, IsWithin2eMinus12) {
  for (double x = 0x1p-33; x < 3; x *= 1.037)
    EXPECT_NEAR(scalar::logarithm(x), std::log(x), 2e-12 * std::abs(std::log(x)) + 1e-15) << x;
  EXPECT_EQ(scalar::logarithm(1), 0);
}

TEST(NormalOfAWord, IsTheInverseOfTheDistribution) {
  std::vector<std::uint32_t> words = {0, 1, 2, 0x7fffffffU, 0x80000000U, 0xffffffffU};
  for (std::uint32_t i = 0; i < 3000; ++i) words.push_back(i * 1431655U + 7U);
  for (int bit = 0; bit < 32; ++bit) words.push_back(1U << bit);
  for (const std::uint32_t word : words) {
    const std::uint32_t low = std::min(word, ~word);
    const double exact = exact_quantile((low + 0.5) * 0x1p-32);
    EXPECT_NEAR(scalar::normal(low), exact, 2e-7 * std::abs(exact) + 1e-15) << low;
    EXPECT_EQ(scalar::normal(~low), -scalar::normal(low)) << low;
  }
  EXPECT_NEAR(scalar::normal(0), -6.33796, 1e-5);
}

TEST(NormalOfAWord, NeverFallsWhereTheWordRises) {
  // Where the two rational functions meet, and in the far tail.
  for (const std::uint32_t from : {322122547U - 2000U, 0U, 2147483647U - 2000U}) {
    for (std::uint32_t word = from; word < from + 4000; ++word)
      ASSERT_LE(scalar::normal(word), scalar::normal(word + 1)) << word;
  }
}

class NormalNumbers : public testing::Test {
 protected:
  std::vector<float> draw(std::int64_t count, const Key& key) {
    const OwnedBuffer x = device_.allocate(Shape::of(count, DType::f32));
    device_.fill_normal(x, key);
    return device_.values(x);
  }
  TestDevice device_;
};

TEST_F(NormalNumbers, AreThoseOfTheStreamsWords) {
  const Key key{.seed = 4, .rank = 3, .phase = Phase::algorithm};
  const std::vector<float> x = draw(1001, key);
  const Philox philox(key);
  for (std::size_t i = 0; i < x.size(); ++i) ASSERT_EQ(x[i], scalar::normal(philox.bits(i))) << i;
  EXPECT_NE(draw(8, key), draw(8, {.seed = 5}));
  EXPECT_TRUE(draw(0, key).empty());
}

// Bounds are five standard deviations of each estimate; the key is fixed.
TEST_F(NormalNumbers, HaveTheMomentsQuantilesAndTailsOfTheDistribution) {
  constexpr double n = 200000;
  const std::vector<float> x = draw(static_cast<std::int64_t>(n), {.seed = 1});
  const auto moment = [&](int power) {
    return std::accumulate(x.begin(), x.end(), 0.0, [&](double sum, float v) { return sum + std::pow(v, power); }) / n;
  };
  EXPECT_NEAR(moment(1), 0, 5 * std::sqrt(1 / n));
  EXPECT_NEAR(moment(2), 1, 5 * std::sqrt(2 / n));
  EXPECT_NEAR(moment(3), 0, 5 * std::sqrt(15 / n));
  EXPECT_NEAR(moment(4), 3, 5 * std::sqrt(96 / n));
  for (const double at : {-4.0, -3.0, -2.0, -1.0, -0.3, 0.0, 0.7, 1.5, 2.5, 3.5}) {
    const double p = std::erfc(-at / std::numbers::sqrt2) / 2;
    const auto below = static_cast<double>(std::count_if(x.begin(), x.end(), [&](float v) { return v < at; }));
    EXPECT_NEAR(below / n, p, 5 * std::sqrt(p * (1 - p) / n)) << at;
  }
}

}  // namespace
}  // namespace trigram
