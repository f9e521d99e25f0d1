// Philox: Random123's known answers, and what streams promise.
#include "core/values/random.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "kernels/cpu/philox_words.hpp"

namespace trigram {
namespace {

using r123::Philox4x32;

// Random123 1.14, tests/kat_vectors, philox4x32 10.
TEST(Philox, GivesTheKnownAnswers) {
  const auto answer = [](Philox4x32::ctr_type counter, Philox4x32::key_type key) { return Philox4x32()(counter, key); };
  EXPECT_EQ(answer({{0, 0, 0, 0}}, {{0, 0}}),
            (Philox4x32::ctr_type{{0x6627e8d5U, 0xe169c58dU, 0xbc57ac4cU, 0x9b00dbd8U}}));
  EXPECT_EQ(answer({{~0U, ~0U, ~0U, ~0U}}, {{~0U, ~0U}}),
            (Philox4x32::ctr_type{{0x408f276dU, 0x41c83b0eU, 0xa20bc7c6U, 0x6d5451fdU}}));
  EXPECT_EQ(answer({{0x243f6a88U, 0x85a308d3U, 0x13198a2eU, 0x03707344U}}, {{0xa4093822U, 0x299f31d0U}}),
            (Philox4x32::ctr_type{{0xd16cfe09U, 0x94fdccebU, 0x5001e420U, 0x24126ea1U}}));
}

TEST(Philox, ABlockIsPhilox4x32OfTheStreamAndTheIndex) {
  const Philox philox(Key{.seed = 7, .step = 3});
  const std::uint64_t index = 0x123456789aULL;
  const std::uint64_t upper = philox.upper_counter();
  const Philox4x32::ctr_type counter = {
      {0x3456789aU, 0x12U, static_cast<std::uint32_t>(upper), static_cast<std::uint32_t>(upper >> 32U)}};
  EXPECT_EQ(philox.block(index), Philox4x32()(counter, {{philox.key_word(0), philox.key_word(1)}}));
}

// Counts around the groups that are drawn at once, from where the counter's second word changes on the way.
TEST(Philox, WordsSideBySideAreWordsOneByOne) {
  for (const Key& key : {Key{.seed = 11, .rank = 2}, Key{.seed = ~0ULL, .step = 1LL << 62U, .bucket = 5}}) {
    const Philox philox(key);
    for (const std::uint64_t first : {0ULL, 0xfffffffeULL, 0xffffffffffULL}) {
      for (const std::int64_t blocks : {1, 3, 7, 8, 9, 37}) {
        for (const Instructions instructions : {Instructions::portable, best_instructions()}) {
          std::vector<std::uint32_t> words(static_cast<std::size_t>(4 * blocks + 1), 7);
          philox_words(instructions, PhiloxStream(philox), first, blocks, words.data());
          ASSERT_EQ(words.back(), 7U) << "written beyond " << blocks << " blocks";
          for (std::size_t i = 0; i + 1 < words.size(); ++i) {
            ASSERT_EQ(words[i], philox.bits(4 * first + i)) << "word " << i << " of " << blocks << " blocks";
          }
        }
      }
    }
  }
}

TEST(Philox, EveryFieldOfTheKeyNamesAnotherStream) {
  const std::vector<Key> keys = {{},
                                 {.seed = 1},
                                 {.seed = 1ULL << 40U},
                                 {.step = 1},
                                 {.step = 1LL << 40U},
                                 {.rank = 1},
                                 {.bucket = 1},
                                 {.chunk = 1},
                                 {.phase = Phase::server}};
  std::set<std::uint64_t> first;
  for (const Key& key : keys) first.insert(Philox(key).bits64(0));
  EXPECT_EQ(first.size(), keys.size());
}

TEST(Philox, UniformIsAMultipleOfTwoToMinus24UnderOne) {
  EXPECT_EQ(Philox::to_uniform(0), 0.0F);
  EXPECT_EQ(Philox::to_uniform(~0U), 1.0F - 0x1p-24F);
  EXPECT_EQ(Philox::to_uniform(0x100U), 0x1p-24F);
}

// χ² with 5 degrees of freedom exceeds 25.7 with probability 1e-4; 60000 draws at a fixed seed.
TEST(Philox, BelowIsUniform) {
  const Philox philox(Key{.seed = 5});
  std::array<double, 6> seen{};
  for (std::uint64_t i = 0; i < 60000; ++i) ++seen[philox.below(i, 6)];
  double chi = 0.0;
  for (const double count : seen) chi += (count - 10000) * (count - 10000) / 10000;
  EXPECT_LT(chi, 25.7);
  EXPECT_EQ(philox.below(3, 1), 0U);
}

TEST(RandomPermutation, HoldsEveryNumberOnce) {
  std::vector<std::int64_t> order = random_permutation(Philox(Key{.seed = 9}), 1000);
  EXPECT_FALSE(std::is_sorted(order.begin(), order.end()));
  std::sort(order.begin(), order.end());
  for (std::size_t i = 0; i < order.size(); ++i) ASSERT_EQ(order[i], static_cast<std::int64_t>(i));
  EXPECT_TRUE(random_permutation(Philox(Key{}), 0).empty());
}

}  // namespace
}  // namespace trigram
