// Error bars of a calibrated cluster: how they are written, and where predictions show them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/values/error.hpp"
#include "experiments/record/regime.hpp"
#include "experiments/settings/error_bars.hpp"
#include "tests/experiments/program_rig.hpp"

namespace trigram::testing::record_error_bars_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(ErrorBars, OfARegimeWhereItWasMeasuredThrice) {
  const ErrorBars bars("all/12/9% bandwidth/8/6.5% latency/2/30%");
  EXPECT_EQ(bars.text(), "all/12/9% latency/2/30% bandwidth/8/6.5%");
  EXPECT_DOUBLE_EQ(bars.of(Regime::bandwidth)->error, 0.065);
  EXPECT_EQ(bars.of(Regime::bandwidth)->rows, 8);
  EXPECT_DOUBLE_EQ(bars.of(Regime::latency)->error, 0.09) << "two rows say too little";
  EXPECT_EQ(bars.of(Regime::compute)->rows, 12);
  EXPECT_EQ(ErrorBars("").of(Regime::compute), std::nullopt);
}

TEST(ErrorBars, RefuseWhatTheyCannotRead) {
  const auto refused = [](const std::string& text, const std::string& message) {
    EXPECT_THAT([&] { const ErrorBars bars(text); }, ::testing::ThrowsMessage<UsageError>(HasSubstr(message)));
  };
  refused("all/12", "'all/12' is malformed; write all/MEASUREMENTS/ERROR%");
  refused("all/0/9%", "is malformed");
  refused("all/12/0.09", "is malformed");
  refused("wire/12/9%", "'wire' is none of all, compute, latency, bandwidth");
}

/// Ten steps of a second each, of which so much is exposed and on the wire, with so many bytes through a NIC.
Regime regime(double exposed, double wire, double bytes) {
  const nlohmann::json summary{{"iteration_s", 1.0},
                               {"bytes_per_step_mean", 0},
                               {"busiest_nic", {{"bytes_sent", 10 * bytes}, {"bytes_received", 0}}},
                               {"breakdown", {{"exposed_s", exposed}, {"wire_s", wire}}}};
  return regime_of(summary, 10, Params("a cluster", "nic_bandwidth=8Gbps,nic_efficiency=0.5"));
}

// The NIC carries half a gigabyte a second.
TEST(Regime, IsWhatTakesMostOfTheTime) {
  EXPECT_EQ(regime(0.4, 0.8, 0.4e9), Regime::compute);
  EXPECT_EQ(regime(0.6, 0.8, 0.25e9), Regime::bandwidth);
  EXPECT_EQ(regime(0.6, 0.8, 0.15e9), Regime::latency);
  EXPECT_EQ(regime_of(10, 6), Regime::latency);
  EXPECT_EQ(regime_of(10, 4), Regime::bandwidth);
}

class WithErrorBars : public ::testing::Test {
 protected:
  std::string calibrated(const std::string& bars) {
    return scratch_
        .file("mine.cfg", "nodes = 2\ngpus_per_node = 1\nnic_latency = 1ms\ncalibration_error = " + bars + "\n")
        .string();
  }
  Ended run(const std::string& cluster) {
    return program("run --workload quadratic --steps 2 --cluster " + cluster + " --out " + (scratch_ / "run").string());
  }

  Scratch scratch_;
};

TEST_F(WithErrorBars, ARunSaysThem) {
  const Ended ended = run(calibrated("all/12/9% latency/4/12%"));
  ASSERT_EQ(ended.code, 0) << ended.text;
  EXPECT_THAT(ended.text,
              HasSubstr("error bar  ± 12 % of the iteration (calibrated on 4 measurements; bound by latency)"));
  const auto bar = nlohmann::json::parse(text_of(scratch_ / "run/run.json")).at("error_bar");
  EXPECT_EQ(bar, (nlohmann::json{{"error", 0.12}, {"rows", 4}, {"regime", "latency"}}));
}

TEST_F(WithErrorBars, ARunOnAClusterWithoutThemSaysNothing) {
  const Ended ended = run("two_by_four");
  EXPECT_THAT(ended.text, Not(HasSubstr("error bar")));
  EXPECT_TRUE(nlohmann::json::parse(text_of(scratch_ / "run/run.json")).at("error_bar").is_null());
}

TEST_F(WithErrorBars, ABenchHasAColumn) {
  const std::string bench = "bench --min-size 4 --max-size 64MiB --factor 16777216 --cluster ";
  const Ended ended = program(bench + calibrated("all/12/9% latency/4/12% bandwidth/8/7.5%"));
  EXPECT_THAT(ended.text, AllOf(HasSubstr("error bar (%)"), ::testing::ContainsRegex("\n4  .* 12\n"),
                                ::testing::ContainsRegex("67108864  .* 7.5\n")));
  EXPECT_THAT(program(bench + "two_by_four").text, Not(HasSubstr("error bar")));
}

TEST_F(WithErrorBars, AStudySaysHowProbableEachRowIsTheFastest) {
  const auto study = [&](const std::string& bars) {
    const auto file = scratch_.file("s.cfg", "[run]\nworkload = quadratic\nsteps = 2\ncluster = " + calibrated(bars) +
                                                 "\n[row.a]\nbucket-size = 1MiB\n[row.b]\nbucket-size = 2MiB\n"
                                                 "[row.c]\nalgorithm = decentralized\n");
    return program("study " + file.string() + " --plot off --out " + (scratch_ / "study").string());
  };
  const Ended ended = study("all/12/9%");
  ASSERT_EQ(ended.code, 0) << ended.text;
  EXPECT_THAT(ended.text, AllOf(HasSubstr("error bar of predictions, from the cluster's calibration: ± 9 %"),
                                HasSubstr("the probability of each to be the fastest: ")));
  EXPECT_THAT(text_of(scratch_ / "study/table.txt"), HasSubstr("the probability of each to be the fastest: "));
}

TEST_F(WithErrorBars, AWrongOneIsRefused) {
  const Ended ended = run(calibrated("all/12"));
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.text, HasSubstr("mine.cfg): calibration_error: 'all/12' is malformed"));
}

}  // namespace
}  // namespace trigram::testing::record_error_bars_test
