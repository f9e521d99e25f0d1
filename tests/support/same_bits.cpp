#include "tests/support/same_bits.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "core/step/algorithm.hpp"

namespace trigram::testing {
namespace {

std::vector<std::uint32_t> bits(const std::vector<float>& values) {
  std::vector<std::uint32_t> words(values.size());
  std::memcpy(words.data(), values.data(), values.size() * sizeof(float));
  return words;
}

}  // namespace

TrainingOptions kept_training(const std::string& algorithm, const std::string& workload, std::int64_t bucket_bytes) {
  TrainingOptions options;
  options.algorithm = algorithm;
  options.workload = workload;
  options.steps = 6;
  options.evaluate_every = 3;
  options.buckets.bytes = bucket_bytes;
  options.relaxation.seed = 5;
  options.record_all = options.keep_weights = true;
  return options;
}

SentBytes sent_bytes_of(const std::string& algorithm) {
  const bool synchronous = Algorithms::make(algorithm)->trigram().synchrony == Trigram::Synchrony::synchronous;
  return synchronous ? SentBytes::by_step : SentBytes::in_all;
}

void expect_same_weights(const RankReport& one, const RankReport& other) {
  ASSERT_FALSE(one.weights.empty());
  ASSERT_EQ(one.weights.size(), other.weights.size());
  for (std::size_t i = 0; i < one.weights.size(); ++i) {
    EXPECT_EQ(bits(one.weights[i]), bits(other.weights[i])) << "rank " << one.rank << ", parameter " << i;
  }
}

void expect_same_bits(const Training& a, const Training& b, SentBytes sent) {
  ASSERT_EQ(a.ranks.size(), b.ranks.size());
  for (std::size_t rank = 0; rank < a.ranks.size(); ++rank) {
    const RankReport& one = a.ranks[rank];
    const RankReport& other = b.ranks[rank];
    ASSERT_EQ(one.steps.size(), other.steps.size());
    for (std::size_t step = 0; step < one.steps.size(); ++step) {
      EXPECT_EQ(one.steps[step].loss, other.steps[step].loss) << "rank " << rank << ", step " << step;
      if (sent == SentBytes::by_step) {
        EXPECT_EQ(one.steps[step].bytes_sent, other.steps[step].bytes_sent) << "rank " << rank << ", step " << step;
      }
    }
    EXPECT_EQ(one.sent + one.setup_and_finish, other.sent + other.setup_and_finish) << "rank " << rank;
    expect_same_weights(one, other);
  }
}

}  // namespace trigram::testing
