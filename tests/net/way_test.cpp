// Which way a chunk goes, by closed forms, and what a connection knows of its own.
#include "net/stream/way.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace trigram::tests {
namespace {

using net::Way;

constexpr double kib = 1024;

/// All are alike but in rate: nothing waits, and no byte takes time before it comes.
std::vector<Way> idle(const std::vector<double>& rates) {
  std::vector<Way> ways;
  for (const double rate : rates) ways.push_back({.rate = rate});
  return ways;
}

/// Chunks that each way takes of a message, asked in turn, where none is done before all are given.
std::vector<int> chunks_by_way(std::vector<Way> ways, int chunks, double length) {
  std::vector<int> taken(ways.size());
  while (chunks > 0) {
    const int before = chunks;
    for (std::size_t i = 0; i < ways.size() && chunks > 0; ++i) {
      if (net::leaves(ways, i, length, chunks * length)) continue;
      ways[i].waiting += length;
      ++taken[i];
      --chunks;
    }
    if (chunks == before) return {};  // all leave it to the others
  }
  return taken;
}

/// When the last of them is done.
double done(const std::vector<Way>& ways, const std::vector<int>& chunks, double length) {
  double last = 0;
  for (std::size_t i = 0; i < ways.size(); ++i) last = std::max(last, ways[i].done(chunks[i] * length));
  return last;
}

TEST(Ways, AreDoneWithWhatWaitsThereFirst) {
  EXPECT_DOUBLE_EQ((Way{100, 0, 50}.done(25)), 0.75);
  EXPECT_DOUBLE_EQ((Way{100, 2, 0}.done(25)), 2.25);
  // Of 450 bytes 400 are on their way there and back.
  EXPECT_DOUBLE_EQ((Way{100, 2, 450}.done(25)), 2.75);
}

TEST(Ways, HaveCarriedWhatTheirRateLets) {
  net::Backlog backlog;
  backlog.add(100, 10, 2);
  EXPECT_DOUBLE_EQ(backlog.left(10, 6), 60);
  backlog.add(50, 10, 6);
  EXPECT_DOUBLE_EQ(backlog.left(10, 7), 100);
  EXPECT_DOUBLE_EQ(backlog.left(10, 99), 0);
  EXPECT_DOUBLE_EQ(backlog.left(0, 99), 110) << "nothing is known of its rate";
}

// Of 100 and 25, a chunk takes 1.28 and 5.12 s.
TEST(Ways, LeaveAChunkToTheOneThatIsSoonerDone) {
  const auto slow_leaves = [](double queued, double waits_at_fast) {
    return net::leaves(std::vector<Way>{{100, 0, waits_at_fast}, {25, 0, 0}}, 1, 128, queued);
  };
  EXPECT_TRUE(slow_leaves(128, 0));
  EXPECT_TRUE(slow_leaves(3 * 128, 0));
  EXPECT_FALSE(slow_leaves(5 * 128, 0));
  EXPECT_FALSE(slow_leaves(2 * 128, 3 * 128));
  EXPECT_FALSE(net::leaves(idle({100, 25}), 0, 128, 128)) << "the fast one";
}

TEST(Ways, OfUnknownRateAreAskedForNothing) {
  EXPECT_FALSE(net::leaves(idle({0, 25}), 1, 128, 128));
  EXPECT_FALSE(net::leaves(idle({100, 0}), 1, 128, 128));
}

// Two are together sooner done than one, but not with one chunk.
TEST(Ways, NeverAllLeaveAChunk) {
  for (const auto& rates : {std::vector<double>{10, 10, 10}, {10, 9, 8, 1}, {3, 3}, {100, 25}}) {
    for (int chunks = 1; chunks <= 20; ++chunks) EXPECT_FALSE(chunks_by_way(idle(rates), chunks, 128).empty());
  }
}

// M / Σ rates, and less than a chunk of the fastest more
TEST(Ways, EndTogether) {
  for (const auto& rates : {std::vector<double>{100, 25}, {100, 100}, {200, 20}, {30, 90, 90}}) {
    const double length = 16 * kib, fastest = *std::max_element(rates.begin(), rates.end());
    double all = 0;
    for (const double rate : rates) all += rate;
    for (const int chunks : {2, 4, 16, 32}) {
      const auto taken = chunks_by_way(idle(rates), chunks, length);
      ASSERT_FALSE(taken.empty());
      EXPECT_LE(done(idle(rates), taken, length), (chunks * length) / all + length / fastest) << chunks;
    }
  }
}

TEST(Ways, HaveThirtyTwoChunksOfAShortMessageOrMore) {
  constexpr std::uint32_t most = 128 << 10;
  constexpr double slow = 12.5e6, fast = 1.25e9;
  EXPECT_EQ(net::chunk_over(256 << 10, slow, most), 8U << 10);
  EXPECT_EQ(net::chunk_over(40 << 10, slow, most), 8U << 10);
  EXPECT_EQ(net::chunk_over(1 << 20, slow, most), 32U << 10);
  EXPECT_EQ(net::chunk_over((2 << 20) - 1, slow, most), 32U << 10);
  EXPECT_EQ(net::chunk_over(64 << 20, slow, most), most);
  EXPECT_EQ(net::chunk_over(256 << 10, fast, most), most) << "128 KiB take 105 us";
  EXPECT_EQ(net::chunk_over(256 << 10, fast / 4, most), 32U << 10);
  EXPECT_EQ(net::chunk_over(256 << 10, 0, most), most) << "nothing is known yet";
  EXPECT_EQ(net::chunk_over(256 << 10, slow, 4 << 10), 4U << 10) << "asked for";
}

}  // namespace
}  // namespace trigram::tests
