// Sets of bytes, against one flag for each byte.
#include "ptx/checks/byte_set.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace trigram::ptx {
namespace {

constexpr std::uint64_t tried_from = 1000, tried_bytes = 20000;

/// A set, and what it should hold.
struct Tried {
  ByteSet set;
  std::vector<bool> flags = std::vector<bool>(tried_bytes);

  void insert(std::uint64_t at, std::uint64_t bytes) {
    set.insert(tried_from + at, bytes);
    std::fill_n(flags.begin() + static_cast<std::ptrdiff_t>(at), bytes, true);
  }
  void erase(std::uint64_t at, std::uint64_t bytes) {
    set.erase(tried_from + at, bytes);
    std::fill_n(flags.begin() + static_cast<std::ptrdiff_t>(at), bytes, false);
  }
  std::optional<std::uint64_t> first_in(std::uint64_t at, std::uint64_t bytes) const {
    for (std::uint64_t byte = at; byte < at + bytes; ++byte) {
      if (flags[byte]) return tried_from + byte;
    }
    return std::nullopt;
  }
};

/// Ranges of a byte to three pages.
class PtxByteSet : public testing::Test {
 protected:
  void change(Tried& tried) {
    const std::uint64_t at = random_() % tried_bytes;
    const std::uint64_t bytes = std::min(tried_bytes - at, random_() % (random_() % 2 == 0 ? 300 : 12000));
    random_() % 2 == 0 ? tried.insert(at, bytes) : tried.erase(at, bytes);
  }

  std::mt19937_64 random_{7};
};

TEST_F(PtxByteSet, HoldsWhatWasInserted) {
  Tried tried;
  for (int round = 0; round < 300; ++round) {
    change(tried);
    const std::uint64_t at = random_() % tried_bytes, bytes = random_() % (tried_bytes - at);
    ASSERT_EQ(tried.set.first_in(tried_from + at, bytes), tried.first_in(at, bytes)) << "round " << round;
  }
  EXPECT_EQ(tried.set.first_in(0, tried_from), std::nullopt);
}

TEST_F(PtxByteSet, FindsWhatTwoShareAndTakesOneFromTheOther) {
  for (int round = 0; round < 100; ++round) {
    Tried one, other;
    for (int step = 0; step < 4; ++step) {
      change(one);
      change(other);
    }
    const auto common = one.set.common(other.set);
    bool any = false;
    for (std::uint64_t byte = 0; byte < tried_bytes; ++byte) any |= one.flags[byte] && other.flags[byte];
    ASSERT_EQ(common.has_value(), any);
    if (common) {
      ASSERT_TRUE(one.flags[*common - tried_from] && other.flags[*common - tried_from]);
    }
    one.set.erase(other.set);
    EXPECT_EQ(one.set.common(other.set), std::nullopt);
    for (std::uint64_t byte = 0; byte < tried_bytes; ++byte) one.flags[byte] = one.flags[byte] && !other.flags[byte];
    ASSERT_EQ(one.set.first_in(tried_from, tried_bytes), one.first_in(0, tried_bytes));
  }
}

}  // namespace
}  // namespace trigram::ptx
