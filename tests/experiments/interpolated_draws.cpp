// Draws of a study that a few short simulations of each run tell, against closed forms and against draws that are all
// simulated.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <sstream>

#include "core/values/error.hpp"
#include "experiments/fit/surrogate.hpp"
#include "experiments/settings/files/csv_table.hpp"
#include "experiments/study/runs/first_steps.hpp"
#include "tests/experiments/program_rig.hpp"

namespace trigram::testing::interpolated_draws_test {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

/// 0.1 a - 0.05 b, and 0.2 of what c is above 0: as of a cap that binds on one side alone.
double bent(const Point& moves) { return 0.1 * moves[0] - 0.05 * moves[1] + 0.2 * std::max(0.0, moves[2]); }

Point moves_at(const Point& point) { return {2 * point[0] - 1, 2 * point[1] - 1, 2 * point[2] - 1}; }

// Twelve samples in three parameters, the last of which bends: others are told within a hundredth, of effects of a
// third.
TEST(Surrogate, TellsSumsThatBendWhereNothingIsMoved) {
  std::vector<Sample> samples;
  std::vector<double> logs;
  for (const Point& point : low_discrepancy_points(3, 12, 1)) {
    samples.push_back({{0}, moves_at(point)});
    logs.push_back(bent(samples.back().moves));
  }
  const Surrogate surrogate(samples, logs);
  double squares = 0, told = 0;
  for (const Point& point : low_discrepancy_points(3, 64, 2)) {
    const Sample sample{{0}, moves_at(point)};
    squares += std::pow(surrogate.at(sample) - bent(sample.moves), 2) / 64;
    told += std::pow(surrogate.deviation(sample), 2) / 64;
  }
  EXPECT_LT(std::sqrt(squares), 0.01);
  EXPECT_GT(std::sqrt(told), 0.5 * std::sqrt(squares)) << "it knows how far off it is";
  EXPECT_LT(std::sqrt(told), 0.05);
  EXPECT_NEAR(surrogate.at({{0}, {0, 0, 0}}), 0, 1e-12);
}

// Each place has one sample, of one parameter; what the other does there is known from the places beside it.
TEST(Surrogate, LearnsFromPlacesBesideEachOther) {
  std::vector<Sample> samples;
  std::vector<double> logs;
  for (int place = 0; place < 8; ++place) {
    const bool first = place % 2 == 0;
    samples.push_back({{static_cast<double>(place)}, {first ? 1.0 : 0.0, first ? 0.0 : 1.0}});
    logs.push_back(first ? 0.1 : -0.05);
  }
  const Surrogate surrogate(samples, logs);
  EXPECT_NEAR(surrogate.at({{3}, {1, 0}}), 0.1, 0.02);
  EXPECT_NEAR(surrogate.at({{4}, {0, 1}}), -0.05, 0.01);
  EXPECT_LT(surrogate.deviation({{3}, {1, 0}}), surrogate.deviation({{30}, {1, 0}})) << "far from all of them";
}

TEST(Surrogate, OfNothingSaysNothing) {
  const Surrogate surrogate({}, {});
  EXPECT_EQ(surrogate.at({{0}, {1}}), 0);
  EXPECT_EQ(surrogate.deviation({{0}, {1}}), 0);
}

TEST(FirstSteps, StandForAllWhereTheyTakeAndSendTheSame) {
  const Scratch scratch;
  const auto steps = [&](const std::string& rows) {
    scratch.file("steps.csv", "step,rank,time_s,bytes_sent\n" + rows);
    return first_steps(scratch.path());
  };
  EXPECT_EQ(steps("0,0,1.0,8\n1,0,2.0,8\n2,0,3.0,8\n").count, 1);
  const FirstSteps period = steps("0,0,1.0,0\n1,0,3.0,8\n2,0,4.0,0\n3,0,6.0,8\n");
  EXPECT_EQ(period.count, 2);
  EXPECT_EQ(period.of, 4);
  EXPECT_NEAR(period.seconds, 1.5, 1e-12);
  EXPECT_EQ(steps("0,0,1.0,8\n0,1,1.0,8\n1,0,3.0,8\n1,1,9.0,8\n").count, 2) << "rank 1 is none of them";
  EXPECT_EQ(steps("0,0,1.0,8\n1,0,2.0,16\n").count, 2) << "as long, but more to send";
}

class InterpolatedDraws : public Simulating {
 protected:
  /// Two nodes and a cable whose model is right: parameters as given.
  std::string cable(const std::string& parameters) const {
    return scratch
        .file("cable.cfg", "nodes = 2\ngpus_per_node = 1\n# a test\n" + parameters +
                               "\ncalibration_error = all/9/0% bandwidth/9/0% latency/9/0%\n")
        .string();
  }

  std::string study(const std::string& cluster, const std::string& more) const {
    return scratch
        .file("s.cfg",
              "[run]\nworkload = tensor:size=125MB\nbucket-size = 1TiB\noverlap = off\nsteps = 4\nfidelity = "
              "fluid\ncluster = " +
                  cluster + "\n" + more)
        .string();
  }

  Ended make(const std::string& file, const std::string& flags, const std::string& out) const {
    return program("study " + file + " --plot off " + flags + " --out " + (scratch / out).string());
  }

  /// Median and ends of the ranges by row and number of the line, as uncertainty.csv has them.
  std::vector<Settings> drawn(const std::string& out) const {
    std::vector<Settings> rows;
    for (const CsvRow& row : read_csv(scratch / out / "uncertainty.csv", "draws", [](const CsvColumns&) {}))
      rows.push_back(row.cells);
    return rows;
  }

  std::size_t simulated(const std::string& out) const {
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& file : std::filesystem::directory_iterator(scratch / out / "draws")) ++count;
    return count;
  }
};

constexpr const char* ends[] = {"median", "least_68", "most_68", "least_95", "most_95"};

// 125 and 150 MB take 0.1 and 0.12 s at 10 Gbps, and half or twice as long at the ends. Nobody has asked for it.
TEST_F(InterpolatedDraws, AStudyDrawsByItself) {
  const std::string file = study(cable("nic_latency = 0s\nnic_bandwidth = 10Gbps in 5Gbps..20Gbps"),
                                 "[row.less]\n[row.more]\nworkload = tensor:size=150MB\n");
  const Ended ended = make(file, "", "s");
  ASSERT_EQ(ended.code, 0) << ended.text;
  EXPECT_THAT(ended.text, HasSubstr("64 draws of each run's ranges, told by 8 short simulations"));
  EXPECT_THAT(ended.text, ContainsRegex("all +less 100 %"));
  EXPECT_THAT(ended.text, HasSubstr("decided by cluster.nic_bandwidth ("));
  EXPECT_EQ(simulated("s"), 8U);
  const auto rows = drawn("s");
  ASSERT_EQ(rows.size(), 2U);
  for (const Settings& row : rows) {
    const double seconds = row.at("row") == "less" ? 0.1 : 0.12;
    const double wanted[] = {1, std::pow(2, -0.68), std::pow(2, 0.68), std::pow(2, -0.95), std::pow(2, 0.95)};
    for (int i = 0; i < 5; ++i)
      EXPECT_NEAR(std::stod(row.at(ends[i])), seconds * wanted[i], 0.05 * seconds * wanted[i]) << ends[i];
    EXPECT_EQ(row.at("fastest"), row.at("row") == "less" ? "1" : "0");
  }
  EXPECT_THAT(text_of(scratch / "s/runs.csv"), HasSubstr(",measure,least_68,most_68,"));
}

TEST_F(InterpolatedDraws, AreMadeOnceAndAreNotWhereZeroAreAskedFor) {
  const std::string file = study(cable("nic_latency = 0s\nnic_bandwidth = 10Gbps in 5Gbps..20Gbps"), "[row.less]\n");
  ASSERT_EQ(make(file, "", "s").code, 0);
  const std::string first = text_of(scratch / "s/uncertainty.csv");
  for (const auto& one : std::filesystem::directory_iterator(scratch / "s/draws"))
    std::filesystem::last_write_time(one, {});
  ASSERT_EQ(make(file, "", "s").code, 0);
  EXPECT_EQ(text_of(scratch / "s/uncertainty.csv"), first);
  for (const auto& one : std::filesystem::directory_iterator(scratch / "s/draws"))
    EXPECT_EQ(std::filesystem::last_write_time(one), std::filesystem::file_time_type()) << one;
  const Ended without = make(file, "--uncertainty 0", "s");
  EXPECT_THAT(without.text, Not(HasSubstr("draws of each")));
  EXPECT_FALSE(std::filesystem::exists(scratch / "s/uncertainty.csv"));
}

// A cap of 10 Gbps, or of 8 to 12.5, binds beyond it alone: at 2 Gbps nothing varies, at 40 all of it does.
TEST_F(InterpolatedDraws, AgreeWithSimulatedOnesWhereACapBendsThem) {
  const std::string file = study(
      cable("nic_cap = 10Gbps in 8Gbps..12.5Gbps\nnic_latency = 50us in 20us..100us\nnic_efficiency = 0.9 in 0.8..1"),
      "[sweep]\ncluster.nic_bandwidth = 1Gbps 2Gbps 5Gbps 10Gbps 20Gbps 40Gbps\n[row.flat]\n[row.halved]\ngradients = "
      "fp16\n");
  const Ended few = make(file, "", "few"), all = make(file, "--uncertainty 64", "all");
  ASSERT_EQ(few.code + all.code, 0) << few.text << all.text;
  const auto told = drawn("few"), simulated = drawn("all");
  ASSERT_EQ(told.size(), 12U);
  for (std::size_t i = 0; i < told.size(); ++i) {
    for (const char* end : ends) {
      const double wanted = std::stod(simulated[i].at(end));
      EXPECT_NEAR(std::stod(told[i].at(end)), wanted, 0.05 * wanted) << end << " of line " << i;
    }
    EXPECT_NEAR(std::stod(told[i].at("fastest")), std::stod(simulated[i].at("fastest")), 0.05) << i;
  }
}

// The model is off by 20 % and nothing else is known badly: no simulation is needed. One deviation is the 16th of 100.
TEST_F(InterpolatedDraws, OfAModelsErrorAloneSimulateNothing) {
  const auto cluster = scratch.file("c.cfg",
                                    "nodes = 2\ngpus_per_node = 1\nnic_latency = 0s\nnic_bandwidth = 10Gbps\n"
                                    "calibration_error = all/9/20% bandwidth/9/20%\n");
  const Ended ended = make(study(cluster.string(), "[row.less]\n"), "", "s");
  ASSERT_EQ(ended.code, 0) << ended.text;
  EXPECT_FALSE(std::filesystem::exists(scratch / "s/draws"));
  EXPECT_NEAR(std::stod(drawn("s")[0].at("most_68")), 0.1 * 1.2, 0.002);
  EXPECT_NEAR(std::stod(drawn("s")[0].at("least_68")), 0.1 / 1.2, 0.002);
}

TEST_F(InterpolatedDraws, AreNoneWhereNoFileSaysHowFarOffAnythingIs) {
  const auto cluster =
      scratch.file("c.cfg", "nodes = 2\ngpus_per_node = 1\nnic_latency = 0s\nnic_bandwidth = 10Gbps\n");
  EXPECT_THAT(make(study(cluster.string(), "[row.less]\n"), "", "s").text, Not(HasSubstr("draws of")));
}

}  // namespace
}  // namespace trigram::testing::interpolated_draws_test
