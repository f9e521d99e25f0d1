// The error of each codec against its closed form, and unbiasedness by statistics.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/device/codec.hpp"
#include "tests/kernels/test_device.hpp"

namespace trigram {
namespace {

class CodecErrors : public testing::Test {
 protected:
  TestDevice device_;

  std::vector<float> round_trip(const std::string& spec, const std::vector<float>& x, const Key& key = {}) {
    return device_.round_trip(*device_.make_codec(spec), x, key);
  }

  /// The error ‖C(x) − x‖² over `draws` keys: mean and its standard error. Also checks that every element's mean is x
  /// where `unbiased`: over d ≤ 64 elements, six standard errors are passed with probability under 2e-7.
  struct Statistics {
    double mean = 0;
    double standard_error = 0;
  };
  Statistics measure(const std::string& spec, const std::vector<float>& x, bool unbiased, int draws = 4000) {
    std::vector<double> sum(x.size()), squares(x.size());
    double total = 0, total_squares = 0;
    for (int step = 0; step < draws; ++step) {
      const std::vector<float> decoded = round_trip(spec, x, {.seed = 1, .step = step});
      const double error = squared_distance(x, decoded);
      total += error;
      total_squares += error * error;
      for (std::size_t i = 0; i < x.size(); ++i) {
        sum[i] += static_cast<double>(decoded[i]);
        squares[i] += static_cast<double>(decoded[i]) * static_cast<double>(decoded[i]);
      }
    }
    for (std::size_t i = 0; i < x.size() && unbiased; ++i) {
      const double mean = sum[i] / draws;
      const double deviation = std::sqrt(std::max(0.0, squares[i] / draws - mean * mean) / draws);
      EXPECT_NEAR(mean, static_cast<double>(x[i]), 6 * deviation + 1e-6) << spec << " element " << i;
    }
    const double mean = total / draws;
    return {mean, std::sqrt(std::max(0.0, total_squares / draws - mean * mean) / draws)};
  }
};

/// (‖x‖/s)² Σ f(1 − f), f = frac(s|x|/‖x‖).
double qsgd_variance(const std::vector<float>& x, double norm, double levels) {
  double sum = 0;
  for (const float value : x) {
    const double exact = levels * std::abs(static_cast<double>(value)) / norm;
    const double fraction = exact - std::floor(exact);
    sum += fraction * (1 - fraction);
  }
  return norm * norm / (levels * levels) * sum;
}

TEST_F(CodecErrors, QsgdIsUnbiasedWithItsVariance) {
  const std::vector<float> x = random_vector(64, 2);
  const double norm = std::sqrt(squared_norm(x));
  double largest = 0;
  for (const float value : x) largest = std::max(largest, std::abs(static_cast<double>(value)));
  for (const int levels : {1, 4, 127}) {
    const std::string spec = "qsgd:levels=" + std::to_string(levels);
    const Statistics two = measure(spec + ",norm=2", x, true);
    EXPECT_NEAR(two.mean, qsgd_variance(x, norm, levels), 5 * two.standard_error + 1e-6) << levels;
    EXPECT_LE(two.mean, device_.make_codec(spec + ",norm=2")->properties(64).bound * norm * norm) << levels;
    const Statistics max = measure(spec, x, true);
    EXPECT_NEAR(max.mean, qsgd_variance(x, largest, levels), 5 * max.standard_error + 1e-6) << levels;
    EXPECT_LE(max.mean, device_.make_codec(spec)->properties(64).bound * norm * norm) << levels;
  }
}

TEST_F(CodecErrors, NaturalIsUnbiasedWithTheVarianceOfRoundingToPowersOfTwo) {
  // Between 2^e and 2^(e+1) the variance is (|x| − 2^e)(2^(e+1) − |x|), x²/8 at 4/3 2^e; a power of two stays.
  const std::vector<float> x = {0.75F, -4.0F / 3, 1.0F, -8.0F, 0.0F, 1e-3F, 3e5F, -0x1.8p-20F, 2.99F};
  double variance = 0;
  for (const float value : x) {
    const double size = std::abs(static_cast<double>(value));
    const double below = size == 0 ? 0 : std::exp2(std::floor(std::log2(size)));
    variance += (size - below) * (2 * below - size);
  }
  const Statistics error = measure("natural", x, true);
  EXPECT_NEAR(error.mean, variance, 5 * error.standard_error);
  EXPECT_LE(variance, squared_norm(x) / 8);
  const std::vector<float> same = {1.0F, -8.0F, 0.0F, 0x1p-126F, 0x1p127F};
  EXPECT_EQ(round_trip("natural", same), same);
}

TEST_F(CodecErrors, TwoMeansErrByWhatEachSideVaries) {
  const std::vector<float> x = random_vector(77, 5);
  double sums[2] = {}, counts[2] = {};
  for (const float value : x) sums[value < 0] += static_cast<double>(value), counts[value < 0] += 1;
  const double expected = squared_norm(x) - sums[0] * sums[0] / counts[0] - sums[1] * sums[1] / counts[1];
  const double error = squared_distance(x, round_trip("two_means", x));
  EXPECT_NEAR(error, expected, 1e-5);
  EXPECT_LE(error, squared_distance(x, round_trip("one_bit", x)) + 1e-6);
}

TEST_F(CodecErrors, SignsAreOneAndMinusOne) {
  EXPECT_EQ(round_trip("sign", {2.0F, -1e-9F, 0.0F, -0.0F, -7.0F, 1.0F, 1.0F, 1.0F, -3.0F}),
            (std::vector<float>{1, -1, 1, 1, -1, 1, 1, 1, -1}));
}

// Of 512 values that are uniform on (−1, 1) the 2-norm is √(512/3) and the largest magnitude nearly 1, and rounding
// costs (norm/s)²/6 an element.
TEST_F(CodecErrors, QsgdByTheLargestMagnitudeErrsLessForTheSameBytes) {
  std::vector<float> x(512);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i) / 256 - 1;
  const double two = squared_distance(x, round_trip("qsgd:norm=2", x)),
               max = squared_distance(x, round_trip("qsgd", x));
  EXPECT_NEAR(two / max, 512.0 / 3, 0.25 * 512 / 3);
  EXPECT_EQ(device_.make_codec("qsgd:norm=2")->encoded_bytes(512), device_.make_codec("qsgd")->encoded_bytes(512));
}

TEST_F(CodecErrors, QsgdOfOneLevelErrsByTheProductOfNorms) {
  const std::vector<float> x = random_vector(48, 4);
  const Statistics error = measure("qsgd:levels=1,bucket_size=0,norm=2", x, true);
  EXPECT_NEAR(error.mean, std::sqrt(squared_norm(x)) * one_norm(x) - squared_norm(x), 5 * error.standard_error);
}

TEST_F(CodecErrors, TernGradIsQsgdOfOneLevelAndTheMaxNorm) {
  const std::vector<float> x = random_vector(48, 5);
  double largest = 0;
  for (const float value : x) largest = std::max(largest, std::abs(static_cast<double>(value)));
  const Statistics error = measure("qsgd:levels=1,bucket_size=0,norm=max", x, true);
  EXPECT_NEAR(error.mean, largest * one_norm(x) - squared_norm(x), 5 * error.standard_error);
}

TEST_F(CodecErrors, QsgdWithoutRandomnessRoundsToNearest) {
  const std::vector<float> x = {1.0F, -0.26F, 0.24F, 0.74F, -0.76F, 0.0F};
  EXPECT_EQ(round_trip("qsgd:levels=2,norm=max,stochastic=off", x),
            (std::vector<float>{1.0F, -0.5F, 0.0F, 0.5F, -1.0F, 0.0F}));
}

TEST_F(CodecErrors, QsgdBucketsHaveNormsOfTheirOwn) {
  const std::vector<float> x = {3e4F, 0, 0, 1e-4F, 0, 0};
  EXPECT_EQ(round_trip("qsgd:bucket_size=3", x)[3], 1e-4F);
  EXPECT_EQ(round_trip("qsgd:bucket_size=3", x)[0], 3e4F);
}

TEST_F(CodecErrors, OneBitLosesTheSquareOfTheOneNorm) {
  for (const std::int64_t count : {1, 7, 1000, 100003}) {
    const std::vector<float> x = random_vector(count, 6);
    const double expected = squared_norm(x) - one_norm(x) * one_norm(x) / static_cast<double>(count);
    EXPECT_NEAR(squared_distance(x, round_trip("one_bit", x)), expected, 1e-6 * squared_norm(x)) << count;
  }
  EXPECT_EQ(round_trip("one_bit", {0.0F, -3.0F, -0.0F}), (std::vector<float>{1.0F, -1.0F, 1.0F}));
}

TEST_F(CodecErrors, TopKLosesTheSmallestSquares) {
  const std::vector<float> x = random_vector(5001, 7);
  std::vector<double> squares;
  for (const float value : x) squares.push_back(static_cast<double>(value) * static_cast<double>(value));
  std::sort(squares.begin(), squares.end());
  for (const int k : {1, 50, 2500, 5001}) {
    double lost = 0;
    for (int i = 0; i < 5001 - k; ++i) lost += squares[static_cast<std::size_t>(i)];
    EXPECT_NEAR(squared_distance(x, round_trip("top_k:k=" + std::to_string(k), x)), lost, 1e-9 * squared_norm(x)) << k;
  }
}

TEST_F(CodecErrors, TopKPrefersTheLowerIndexAmongEquals) {
  EXPECT_EQ(round_trip("top_k:k=3", {1, -2, 2, -2, 2, 5}), (std::vector<float>{0, -2, 2, 0, 0, 5}));
}

TEST_F(CodecErrors, RandomKKeepsEveryElementAlikeOften) {
  for (const std::int64_t count : {60, 61, 64}) {  // k divides d, and not
    const std::vector<float> x = random_vector(count, 8);
    const double ratio = static_cast<double>(count) / 10.0;
    const Statistics scaled = measure("random_k:k=10", x, true);
    EXPECT_NEAR(scaled.mean, (ratio - 1) * squared_norm(x), 5 * scaled.standard_error) << count;
    const Statistics plain = measure("random_k:k=10,scaled=off", x, false);
    EXPECT_NEAR(plain.mean, (1 - 1 / ratio) * squared_norm(x), 5 * plain.standard_error) << count;
  }
}

TEST_F(CodecErrors, RandomKKeepsKDifferentElementsTheSameOnAllRanks) {
  const std::vector<float> ones(101, 1.0F);
  for (int step = 0; step < 200; ++step) {
    const std::vector<float> kept = round_trip("random_k:k=40,scaled=off", ones, {.step = step});
    EXPECT_EQ(std::count(kept.begin(), kept.end(), 1.0F), 40);
    EXPECT_EQ(round_trip("random_k:k=40,scaled=off", ones, {.step = step, .rank = 5}), kept);
  }
}

TEST_F(CodecErrors, HalvesRoundByHalfAUnit) {
  const std::vector<float> x = random_vector(4096, 9);
  const std::vector<float> fp16 = round_trip("fp16", x);
  const std::vector<float> bf16 = round_trip("bf16", x);
  for (std::size_t i = 0; i < x.size(); ++i) {
    EXPECT_LE(std::abs(fp16[i] - x[i]), std::max(0x1p-11F * std::abs(x[i]), 0x1p-25F));
    EXPECT_LE(std::abs(bf16[i] - x[i]), 0x1p-8F * std::abs(x[i]));
  }
  EXPECT_EQ(round_trip("identity", x), x);
}

// Both of a pair, wherever they are, find the difference of what they rounded.
TEST_F(CodecErrors, ModuloTellsTheDifferenceOfWhatIsWithinTheta) {
  constexpr double theta = 0.3, step = theta / 126;
  const std::string spec = "modulo:theta=0.3";
  const std::vector<float> place = random_vector(5000, 71), apart = random_vector(5000, 72);
  std::vector<float> x, y;
  for (std::size_t i = 0; i < place.size(); ++i) {
    x.push_back(40 * place[i]);
    y.push_back(x.back() + static_cast<float>(theta * (1 - 1e-4)) * apart[i]);
  }
  const std::vector<float> sent = round_trip(spec, x), own = round_trip(spec, y);
  std::vector<float> there, back;
  for (std::size_t i = 0; i < x.size(); ++i) {
    there.push_back(sent[i] - own[i]);
    back.push_back(own[i] - sent[i]);
  }
  there = round_trip(spec, there);
  back = round_trip(spec, back);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double exact = static_cast<double>(x[i]) - static_cast<double>(y[i]);
    ASSERT_NEAR(there[i], exact, step * 1.01) << "element " << i;
    ASSERT_NEAR(there[i] / step, std::round(there[i] / step), 1e-3);
    ASSERT_EQ(back[i], -there[i]) << "element " << i;
  }
}

TEST_F(CodecErrors, ModuloIsARoundingWithinThetaAndWrapsBeyond) {
  constexpr double theta = 126 * 0x1p-10, step = 0x1p-10;
  const std::string spec = "modulo:theta=0.123046875";
  const std::vector<float> x = random_vector(1000, 73);
  std::vector<float> within, wrapped;
  for (const float value : x) within.push_back(static_cast<float>(theta) * value);
  for (const float value : within) wrapped.push_back(value + 255 * 0x1p-10F * 31);
  const std::vector<float> rounded = round_trip(spec, within);
  for (std::size_t i = 0; i < x.size(); ++i)
    ASSERT_EQ(rounded[i], step * std::nearbyint(static_cast<double>(within[i]) / step)) << within[i];
  EXPECT_EQ(round_trip(spec, {255 * 0x1p-10F * 31, -255 * 0x1p-10F * 70000, 128 * 0x1p-10F, 127 * 0x1p-10F}),
            (std::vector<float>{0, 0, -127 * 0x1p-10F, 127 * 0x1p-10F}));
  constexpr float infinity = std::numeric_limits<float>::infinity();
  for (const float value : round_trip(spec, {infinity, -infinity, 0x1p21F})) EXPECT_TRUE(std::isnan(value));
}

}  // namespace
}  // namespace trigram
