// How connections begin that are new, or were idle: against a stream whose every acknowledgement lets two segments go.
#include <deque>

#include "tests/sim/rig.hpp"

namespace trigram::testing::slow_start_test {
namespace {

constexpr double latency = 1e-3;
constexpr double segment = 1024;
constexpr double initial_window = 10 * segment;

std::string far(const std::string& more) {
  return "sim:gpus_per_node=1,nic_bandwidth=100Gbps,nic_latency=1ms,initial_window=10KiB," + more;
}

/// Seconds until the last byte arrives of a stream that has no more than `most` bytes in flight.
double doubling_stream(std::int64_t bytes, double most) {
  std::deque<double> acknowledged;  // of segments in flight
  double now = 0, window = initial_window;
  const auto hear = [&] {
    now = std::max(now, acknowledged.front());
    acknowledged.pop_front();
    window = std::min(most, window + segment);
  };
  for (double sent = 0; sent < static_cast<double>(bytes); sent += segment) {
    while (!acknowledged.empty() && acknowledged.front() <= now) hear();
    while (static_cast<double>(acknowledged.size() + 1) * segment > window) hear();
    now += segment * beta;
    acknowledged.push_back(now + 2 * latency);
  }
  return now + latency;
}

TEST(SlowStart, DoublesTheWindowEachRoundTrip) {
  for (const std::int64_t bytes : {1 << 13, 1 << 14, 100'000, 1 << 20, 1 << 24, 1 << 28}) {
    const std::string size = std::to_string(bytes);
    expect_relative(duration(far("nodes=2"), 2, shift_of(bytes)), doubling_stream(bytes, 1e18), 0.02, size);
    expect_relative(duration(far("nodes=2,nic_window=1MiB"), 2, shift_of(bytes)), doubling_stream(bytes, 1 << 20), 0.02,
                    size + ", window 1 MiB");
  }
}

// k round trips carry (2^k − 1) initial windows
TEST(SlowStart, ComesAgainAfterIdleTime) {
  constexpr std::int64_t bytes = 15 * static_cast<std::int64_t>(initial_window);
  constexpr double open = latency + bytes * beta, slow = open + 3 * 2 * latency;
  World world;
  world.ranks = 2;
  const auto seconds =
      durations(far("nodes=2"), world,
                {shift_of(bytes), shift_of(bytes), idle_for(0.1), shift_of(bytes), idle_for(0.3), shift_of(bytes)});
  expect_relative(seconds[0], slow, 0.01);
  expect_relative(seconds[1], open, 0.01);
  expect_relative(seconds[3], open, 0.01);
  expect_relative(seconds[5], slow, 0.01);
  const auto patient =
      durations(far("nodes=2,idle_restart=1s"), world, {shift_of(bytes), idle_for(0.3), shift_of(bytes)});
  expect_relative(patient[2], open, 0.01);
}

// Two messages of 5 GB share a NIC: each takes twice as long as it would alone, and its connection is in use until
// then.
TEST(SlowStart, FindsNoIdleTimeInWhatOthersSlowDown) {
  World world;
  world.ranks = 4;
  const auto seconds =
      durations("sim:nodes=2,gpus_per_node=2,nic_bandwidth=100Gbps,nic_latency=1ms,initial_window=10KiB", world,
                {shift_of(5'000'000'000, 2), shift_of(100'000, 2)});
  EXPECT_GT(seconds[0], 0.8);
  expect_relative(seconds[1], latency + 200'000 * beta, 0.01);
}

TEST(SlowStart, IsThatOfEachConnection) {
  constexpr std::int64_t bytes = 4 * 15 * static_cast<std::int64_t>(initial_window);
  expect_relative(duration(far("nodes=2,connections=4"), 2, shift_of(bytes)), 7 * latency, 0.01);
}

TEST(SlowStart, IsAlikeInBothFidelities) {
  for (const char* nodes : {"nodes=4,gpus_per_node=4", "gpus_per_node=2 4 3", "nodes=4,gpus_per_node=1",
                            "nodes=4,gpus_per_node=4,idle_restart=20ms"}) {
    expect_alike_in_both_fidelities(
        std::string("sim:nic_bandwidth=10Gbps,nic_latency=1ms,initial_window=14600B,nic_window=1MiB,") + nodes,
        {all_reduce_of(30'000'000), all_reduce_of(9'000'000), all_to_all_of(400'000), last_to_first_of(9'000'000),
         idle_for(0.5), by_leader_of(3'000'000)});
  }
}

TEST(SlowStart, IsRefusedWhereItCannotBe) {
  EXPECT_THROW(Backends::make("sim:idle_restart=1s"), UsageError);
  EXPECT_THROW(Backends::make("sim:initial_window=2MiB,nic_window=1MiB"), UsageError);
}

}  // namespace
}  // namespace trigram::testing::slow_start_test
