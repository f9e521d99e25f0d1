// What published systems do beside their collectives, by closed forms: gradients that are fused by cycles, pieces in
// flight, and rings over one connection.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "core/training/training.hpp"
#include "experiments/record/report.hpp"
#include "experiments/settings/run_config.hpp"
#include "experiments/settings/system.hpp"
#include "tests/experiments/program_rig.hpp"

namespace trigram::testing::settings_system_forms_test {
namespace {

constexpr double tolerance = 1e-3, latency = 10e-3;

/// Six layers of one tensor of 250 elements, each 1 ms forward and 1 ms backward: ready 7, 8, ... 12 ms after a step
/// has begun. A link of 10 ms lets their bytes through in nothing.
class SmallTensors : public ::testing::Test {
 protected:
  double iteration(const Settings& given) const {
    Settings settings{
        {"cluster",
         "two_by_four:gpus_per_node=1,nic_bandwidth=100Gbps,nic_latency=10ms,gpu_memory_bandwidth=1e9GB/s,"
         "kernel_launch=1ns"},
        {"workload", "profile:file=" + table()},
        {"steps", "3"}};
    for (const auto& [key, value] : given) settings[key] = value;
    const RunConfig config("trigram run", resolved(with_system(settings, run_flags()), run_defaults()));
    const auto backend = config.backend.make();
    World world = config.world;
    world.ranks = config.backend.ranks_on(*backend);
    return summarize(run_training(*backend, world, config.training), 2).at("iteration_s");
  }

 private:
  std::string table() const {
    std::string rows = "layer,tensor,parameters,decays,forward_ms,backward_ms\n";
    for (const char* layer : {"a", "b", "c", "d", "e", "f"}) rows += std::string(layer) + ",w,250,1,1,1\n";
    return scratch_.file("small.csv", rows).string();
  }

  Scratch scratch_;
};

// A ring of two ranks takes two latencies a bucket, one bucket after the other: k buckets of 6 / k layers, the first of
// which is ready 6 + 6 / k ms after the begin.
TEST_F(SmallTensors, OfOneCycleAreFused) {
  for (const int layers : {1, 2, 3, 6}) {
    const int buckets = 6 / layers;
    EXPECT_NEAR(iteration({{"cycle-time", std::to_string(layers) + "ms"}}), (6 + layers) * 1e-3 + buckets * 2 * latency,
                tolerance)
        << layers;
  }
  EXPECT_NEAR(iteration({}), 12e-3 + 2 * latency, tolerance) << "by size alone they are one bucket";
}

// Cycles of 4 ms end with the fourth layer, and would with the eighth; a bucket that is full is closed before.
TEST_F(SmallTensors, OfACycleThatDoesNotDivideBackward) {
  EXPECT_NEAR(iteration({{"cycle-time", "4ms"}}), 10e-3 + 2 * 2 * latency, tolerance);
  EXPECT_NEAR(iteration({{"cycle-time", "4ms"}, {"bucket-size", "2000B"}}), 8e-3 + 3 * 2 * latency, tolerance);
}

TEST_F(SmallTensors, AreReadyTogetherWhereNothingOverlaps) {
  EXPECT_NEAR(iteration({{"cycle-time", "1ms"}, {"overlap", "off"}}), 12e-3 + 2 * latency, tolerance);
}

// Of six pieces, each there and back in two latencies, `lanes` are under way at a time: a piece begins when the one so
// many before it has ended, and is there no sooner than backward.
TEST_F(SmallTensors, OfBytePsAreInFlightAsManyAsThereAreLanes) {
  for (const int credits : {1, 2, 3, 6}) {
    double ended[6] = {};
    for (int piece = 0; piece < 6; ++piece) {
      const double before = piece < credits ? 0 : ended[piece - credits];
      ended[piece] = std::max((7 + piece) * 1e-3, before) + 2 * latency;
    }
    EXPECT_NEAR(iteration({{"system", "byteps"}, {"bucket-size", "0"}, {"lanes", std::to_string(credits)}}),
                *std::max_element(std::begin(ended), std::end(ended)), tolerance)
        << credits;
  }
}

// One bucket after 12 ms, whose ring over n hosts takes max(2(n-1)/n·S/c + α, 2(n-1)·α + S/(n·c)) over one connection
// of c.
TEST_F(SmallTensors, OfGlooGoAroundARingOfOneConnectionEach) {
  constexpr double bytes = 6 * 250 * 4;
  for (const double cap : {1e4, 1e9}) {
    const std::string cluster =
        "two_by_four:nodes=4,gpus_per_node=1,nic_bandwidth=100Gbps,nic_latency=10ms,gpu_memory_bandwidth=1e9GB/s,"
        "kernel_launch=1ns,connection_cap=" +
        std::to_string(static_cast<long>(cap)) + "B/s";
    const double rounds = 6, chunk = bytes / 4 / cap;
    EXPECT_NEAR(iteration({{"system", "gloo"}, {"cluster", cluster}}),
                12e-3 + std::max(rounds * chunk + latency, rounds * latency + chunk), tolerance)
        << cap;
  }
}

}  // namespace
}  // namespace trigram::testing::settings_system_forms_test
