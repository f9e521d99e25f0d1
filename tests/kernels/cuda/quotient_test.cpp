// The quotients that one correction could get wrong: those nearest to a number halfway between two floats.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <vector>

#include "tests/kernels/cuda/quotients.hpp"

namespace trigram {
namespace {

constexpr std::uint64_t lowest = 1U << 23U;  // of a mantissa
constexpr std::uint64_t beyond = 1U << 24U;

/// base^exponent mod modulus, which is under 2^24.
std::uint64_t power(std::uint64_t base, int exponent, std::uint64_t modulus) {
  std::uint64_t result = 1 % modulus;
  for (; exponent > 0; exponent /= 2, base = base * base % modulus) {
    if (exponent % 2 == 1) result = result * base % modulus;
  }
  return result;
}

class Tried {
 public:
  std::int64_t pairs = 0, wrong = 0, wrong_uncorrected = 0;

  /// Every A with A·2^shift ≡ n mod B and an odd quotient, 0 < |n| ≤ 8, on one side of B: shift is 25 for A < B,
  /// else 24.
  void divisor(std::uint64_t divisor, int shift) {
    const int twos = std::countr_zero(divisor);
    const std::uint64_t odd = divisor >> twos;
    const std::uint64_t inverse = power((odd + 1) / 2, shift, odd);
    for (int n = 1; n <= 8; ++n) {
      if (std::countr_zero(static_cast<unsigned>(n)) != twos) continue;
      for (const std::uint64_t residue :
           {static_cast<std::uint64_t>(n) % odd, odd - static_cast<std::uint64_t>(n) % odd}) {
        const std::uint64_t dividend = residue * inverse % odd;
        for (std::uint64_t a = dividend + (lowest - dividend + odd - 1) / odd * odd; a < beyond; a += odd) {
          if ((a < divisor) == (shift == 25)) pair(a, divisor);
        }
      }
    }
  }
  /// The same for every divisor from `begin` on, at that distance, and divides.
  void divisors(std::uint64_t begin, std::uint64_t step) {
    for (std::uint64_t divisor_mantissa = begin; divisor_mantissa < beyond; divisor_mantissa += step) {
      divisor(divisor_mantissa, 24);
      divisor(divisor_mantissa, 25);
    }
    divide();
  }

 private:
  static constexpr std::size_t at_once = 1U << 16U;

  void pair(std::uint64_t dividend, std::uint64_t divisor) {
    dividends_.push_back(static_cast<float>(dividend));
    divisors_.push_back(static_cast<float>(divisor));
    if (dividends_.size() == at_once) divide();
  }
  void divide() {
    const std::vector<float> found = moderate_quotients(dividends_, divisors_);
    for (std::size_t i = 0; i < found.size(); ++i) {
      const float right = dividends_[i] / divisors_[i];
      wrong += found[i] != right ? 1 : 0;
      wrong_uncorrected += dividends_[i] * (1.0F / divisors_[i]) != right ? 1 : 0;
    }
    pairs += static_cast<std::int64_t>(found.size());
    dividends_.clear();
    divisors_.clear();
  }

  std::vector<float> dividends_, divisors_;
};

TEST(HardQuotients, OfSomeDivisorsAreRoundedRight) {
  Tried tried;
  tried.divisors(lowest, 509);
  tried.divisors(beyond - 4096, 1);
  EXPECT_EQ(tried.wrong, 0);
  EXPECT_GT(tried.pairs, 80000);
  EXPECT_GT(tried.wrong_uncorrected, tried.pairs / 3);  // they are hard
}

// Takes seconds: --gtest_also_run_disabled_tests.
TEST(HardQuotients, DISABLED_OfAllDivisorsAreRoundedRight) {
  Tried tried;
  tried.divisors(lowest, 1);
  EXPECT_EQ(tried.wrong, 0);
  EXPECT_EQ(tried.pairs, 46517418);
}

}  // namespace
}  // namespace trigram
