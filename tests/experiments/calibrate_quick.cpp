// Ranges of several fits, and a quick calibration of a cluster that is known: the simulated one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/values/units.hpp"
#include "experiments/measure/probes/second_probes.hpp"
#include "experiments/measure/ranges_of_sets.hpp"
#include "experiments/settings/settings.hpp"
#include "tests/experiments/program_rig.hpp"

namespace trigram::testing::calibrate_quick_test {
namespace {

using ::testing::HasSubstr;

TEST(RangesOfSets, AreTheLeastAndTheMostOfEachQuantity) {
  const std::string file = "# first\nnodes = 2\nnic = node\nnic_bandwidth = 9.5Gbps\nnic_latency = 20us\n";
  const std::vector<std::string> sets = {"nodes = 2\nnic = node\nnic_bandwidth = 1.25GB/s\nnic_latency = 20us\n",
                                         "nodes = 2\nnic = gpu\nnic_bandwidth = 900MB/s\nnic_window = 4KiB\n"};
  EXPECT_EQ(with_ranges(file, sets),
            "# first\nnodes = 2\nnic = node\nnic_bandwidth = 9.5Gbps in 900MB/s..1.25GB/s\nnic_latency = 20us\n");
  EXPECT_EQ(with_ranges("kernel_launch = 5us\n", {"kernel_launch = 6us\n", "kernel_launch = 7us\n"}),
            "kernel_launch = 5us in 5us..7us\n")
      << "what was fitted to all lies in it";
}

TEST(SecondProbes, AreMediansOfTheRankThatTookLongest) {
  const std::size_t probes = second_probes().size();
  std::vector<std::vector<double>> ranks(2, std::vector<double>(3 * probes, 1.0));
  ranks[1][0] = 5;  // the first probe, of three iterations: 5, 2 and 1
  ranks[0][probes] = 2;
  ranks[1][2 * probes + 1] = 9;  // the second one: 1, 1 and 9
  EXPECT_EQ(second_times(ranks)[0].seconds, 2);
  EXPECT_EQ(second_times(ranks)[1].seconds, 1);
  EXPECT_EQ(second_times(ranks)[0].amount, 16 * 1024);
}

TEST(QuickCalibration, OfAKnownClusterFindsItAndPredictsWhatItHasNotSeen) {
  const Scratch scratch;
  const std::filesystem::path file = scratch / "quick.cfg";
  const Ended ended = program(
      "calibrate --quick --cluster two_by_four:nodes=2,gpus_per_node=2,nic_bandwidth=13Gbps,nic_latency=37us --out " +
      file.string());
  ASSERT_EQ(ended.code, 0) << ended.text;
  const Settings found = read_settings(file);
  EXPECT_NEAR(parse_quantity(found.at("nic_bandwidth"), Unit::bytes_per_second), 13e9 / 8, 13e9 / 8 * 0.01)
      << "a clock without noise leaves no range";
  EXPECT_NEAR(parse_quantity(found.at("nic_latency"), Unit::seconds), 37e-6, 37e-8);
  EXPECT_THAT(text_of(file), HasSubstr("# Measured by trigram calibrate --quick on two_by_four"));
  EXPECT_THAT(text_of(file),
              HasSubstr("Ranges are the least and the most of 2 sets of probes, each fitted by itself."));
  EXPECT_THAT(ended.text, HasSubstr("this file predicts 7 collectives that it was not fitted to"));
  const std::string bars = found.at("calibration_error");
  ASSERT_TRUE(bars.starts_with("all/7/")) << bars;
  EXPECT_LT(std::stod(bars.substr(6)), 5);
}

TEST(AllToAll, OfSizesThatRanksDoNotDivideIsMeasured) {
  const Ended ended = program(
      "bench --op all_to_all --cluster two_by_four:nodes=3,gpus_per_node=1 --min-size 4 --max-size 4KiB --factor 10");
  EXPECT_EQ(ended.code, 0) << ended.text;
}

TEST(QuickCalibration, DecidesItsProbesItself) {
  EXPECT_THAT(program("calibrate --quick --rounds 3").text, HasSubstr("--quick decides --rounds itself; leave it out"));
  EXPECT_THAT(program("calibrate --seconds 9").text, HasSubstr("--seconds is of --quick"));
  EXPECT_THAT(program("calibrate --quick --from t.csv --fit nic_latency").text,
              HasSubstr("--from measures nothing, and --quick does"));
  EXPECT_EQ(program("calibrate --quick --seconds 1").code, 2);
  EXPECT_THAT(program("calibrate --quick --backend threads --ranks 1").text,
              HasSubstr("one rank sends nothing that --quick could measure"));
}

}  // namespace
}  // namespace trigram::testing::calibrate_quick_test
