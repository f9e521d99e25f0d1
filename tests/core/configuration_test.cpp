// Ranks that were started differently say so: which setting, with both values.
#include "core/world/configuration.hpp"

#include <gmock/gmock.h>

#include "core/values/error.hpp"

namespace trigram::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

using Parts = std::vector<std::vector<std::byte>>;

/// What a rank with that configuration brings to each gather, as if another had brought something else to the first.
Parts brought_by(const Configuration& rank) {
  Parts brought;
  require_same_on_all_ranks(rank, [&](const std::vector<std::byte>& own) {
    brought.push_back(own);
    return brought.size() == 1 ? Parts{own, {}} : Parts{own, own};
  });
  return brought;
}

/// Rank 0's comparison of them all. Returns how many gathers it took.
int compare(const std::vector<Configuration>& ranks) {
  int gathers = 0;
  require_same_on_all_ranks(ranks.front(), [&](const std::vector<std::byte>&) {
    const auto gather = static_cast<std::size_t>(gathers++);
    Parts parts;
    for (const Configuration& rank : ranks) parts.push_back(brought_by(rank).at(gather));
    return parts;
  });
  return gathers;
}

TEST(Configuration, EqualOnesNeedOneGatherOfHashes) {
  EXPECT_EQ(compare({{{"lr", "0.1"}, {"seed", "1"}}, {{"seed", "1"}, {"lr", "0.1"}}}), 1);
}

TEST(Configuration, TheSettingThatDiffersIsNamedWithBothValuesAndRanks) {
  const Configuration same{{"lr", "0.1"}, {"seed", "1"}};
  EXPECT_THAT(
      [&] {
        compare({same, same, {{"lr", "0.1"}, {"seed", "x=2"}}});
      },
      ThrowsMessage<UsageError>(::testing::StrEq(
          "the ranks of this job were started with different settings: seed=1 on rank 0 but seed=x=2 on rank "
          "2; start all of them with the same")));
}

TEST(Configuration, WhatIsMissingOnARankComesLast) {
  EXPECT_THAT(
      ([] {
        compare({{{"work", "run"}}, {{"rounds", "7"}, {"work", "bench"}}});
      }),
      ThrowsMessage<UsageError>(HasSubstr("work=run on rank 0 but work=bench on rank 1; no rounds on rank 0 but "
                                          "rounds=7 on rank 1")));
}

TEST(Configuration, ManyDifferencesAreCounted) {
  Configuration one, other;
  for (const char letter : std::string("abcdefg")) {
    one[std::string(1, letter)] = "1";
    other[std::string(1, letter)] = "2";
  }
  EXPECT_THAT(
      [&] {
        compare({one, other});
      },
      ThrowsMessage<UsageError>(HasSubstr("e=1 on rank 0 but e=2 on rank 1; and 2 more")));
}

}  // namespace
}  // namespace trigram::testing
