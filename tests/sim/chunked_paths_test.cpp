// Messages of few chunks over paths of unequal rate, against the paths' own clocks.
#include "core/network/chunked_paths.hpp"

#include <gmock/gmock.h>

#include "tests/sim/rig.hpp"

namespace trigram::testing::chunked_paths_test {
namespace {

using ::testing::HasSubstr;

constexpr double kib = 1024, latency = 1e-6, tolerance = 1e-4;  // links carry whole bytes
constexpr double fast = 12.5e6, slow = 3.125e6;                 ///< 100 and 25 Mbit/s, in bytes a second

std::string cluster_of(const std::string& more, int ranks = 2) {
  return "sim:gpus_per_node=1,nic_latency=1us,nics=100Mbps 25Mbps,nodes=" + std::to_string(ranks) + "," + more;
}

/// Seconds of a message of so many chunks of 16 KiB.
double seconds(double chunks, const std::string& more = "nic_chunk=16KiB") {
  return duration(cluster_of(more), 2, last_to_first_of(static_cast<std::int64_t>(chunks * 16 * kib)));
}

/// As long as the fast one takes for all, until the slow one is sooner done with one.
double in_time_of(double fast_chunks) { return latency + fast_chunks * 16 * kib / fast; }

TEST(ChunkedPaths, LeaveAShortMessageToTheFastest) {
  for (const double chunks : {0.125, 1.0, 1.5, 2.0, 3.0})
    expect_relative(seconds(chunks), in_time_of(chunks), tolerance);
}

// The slow one takes four times as long: of five chunks one, of ten two.
TEST(ChunkedPaths, EndTogetherWhereAMessageHasManyChunks) {
  expect_relative(seconds(5), in_time_of(4), tolerance);
  expect_relative(seconds(10), in_time_of(8), tolerance);
  expect_relative(seconds(1000), in_time_of(800), tolerance);
  expect_relative(seconds(1003), in_time_of(803), tolerance);
}

// Half a chunk takes the slow one as long as two take the fast one.
TEST(ChunkedPaths, GiveTheRestToWhoIsSoonerDone) {
  expect_relative(seconds(4.5), in_time_of(4), tolerance);
  expect_relative(seconds(9.5), in_time_of(8), tolerance);
  expect_relative(seconds(9.25), in_time_of(8), tolerance);
  expect_relative(seconds(8.875), in_time_of(4 * 1.875), tolerance);
}

TEST(ChunkedPaths, OfAnyNumberAreFilledInOrderOfTheirEnds) {
  for (const std::vector<double>& rates : {std::vector<double>{7, 3}, {1, 1}, {10, 5, 1}, {0.3, 0.9, 0.9, 0.1}}) {
    std::vector<double> ends;
    for (const double rate : rates) {
      for (int chunk = 1; chunk <= 3000; ++chunk) ends.push_back(chunk / rate);
    }
    std::sort(ends.begin(), ends.end());
    for (const std::size_t chunks : {1, 2, 3, 7, 20, 1000})
      expect_relative(ChunkedPaths(rates, 1).seconds(static_cast<double>(chunks)), ends[chunks - 1], 1e-12);
  }
}

TEST(ChunkedPaths, ShareEveryByteOtherwise) { expect_relative(seconds(1, "timeout=0s"), in_time_of(0.8), tolerance); }

// Three messages at once to others, all of them on the fast one; a ring's rounds are one by one.
TEST(ChunkedPaths, CountForEachMessageOfACollective) {
  for (const char* fidelity : {",fidelity=exact", ",fidelity=fluid"}) {
    const std::string cluster = cluster_of(std::string("nic_chunk=16KiB") + fidelity, 4);
    expect_relative(duration(cluster, 4, all_to_all_of(16 << 10)), in_time_of(3), 1e-4);
    expect_relative(duration(cluster, 4, all_reduce_of(4 * 16 << 10)), 6 * in_time_of(1), 1e-4);
    expect_relative(duration(cluster, 4, all_reduce_of(4 * 160 << 10)), 6 * in_time_of(8), 1e-4);
  }
}

// What is announced is known by its own bytes, not by those that links carry.
TEST(ChunkedPaths, DoNotChangeWhatIsAnnounced) {
  const std::string more = "nic_chunk=16KiB,nic_handshake=1s,handshake_size=40KiB";
  expect_relative(seconds(2.5, more), in_time_of(2), tolerance);
  expect_relative(seconds(2.625, more), in_time_of(2.5) + 1, tolerance);
}

TEST(ChunkedPaths, AreRefusedWhereThereIsOne) {
  const auto refusal_of = [](const std::string& more) {
    return failure<UsageError>("sim:gpus_per_node=1," + more, 2, idle_for(0));
  };
  EXPECT_THAT(refusal_of("nic_chunk=16KiB"), HasSubstr("'nic_chunk' is 16384 bytes, and needs several 'nics'"));
  EXPECT_THAT(refusal_of("nics=1Gbps 2Gbps,nic_striping=equal,nic_chunk=16KiB"), HasSubstr("draw from one queue"));
}

}  // namespace
}  // namespace trigram::testing::chunked_paths_test
