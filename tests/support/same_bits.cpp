#include "tests/support/same_bits.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace trigram::testing {
namespace {

std::vector<std::uint32_t> bits(const std::vector<float>& values) {
  std::vector<std::uint32_t> words(values.size());
  std::memcpy(words.data(), values.data(), values.size() * sizeof(float));
  return words;
}

}  // namespace

void expect_same_bits(const Training& a, const Training& b) {
  ASSERT_EQ(a.ranks.size(), b.ranks.size());
  for (std::size_t rank = 0; rank < a.ranks.size(); ++rank) {
    const RankReport& one = a.ranks[rank];
    const RankReport& other = b.ranks[rank];
    ASSERT_EQ(one.steps.size(), other.steps.size());
    for (std::size_t step = 0; step < one.steps.size(); ++step) {
      EXPECT_EQ(one.steps[step].loss, other.steps[step].loss) << "rank " << rank << ", step " << step;
      EXPECT_EQ(one.steps[step].bytes_sent, other.steps[step].bytes_sent) << "rank " << rank << ", step " << step;
    }
    ASSERT_FALSE(one.weights.empty());
    ASSERT_EQ(one.weights.size(), other.weights.size());
    for (std::size_t i = 0; i < one.weights.size(); ++i) {
      EXPECT_EQ(bits(one.weights[i]), bits(other.weights[i])) << "rank " << rank << ", parameter " << i;
    }
  }
}

}  // namespace trigram::testing
