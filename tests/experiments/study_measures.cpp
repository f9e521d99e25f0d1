// What a study measures on the way to its goal, how spreads over seeds are shown, and how probable each row is the
// fastest.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/values/error.hpp"
#include "experiments/fit/chances.hpp"
#include "experiments/program/tables/tables.hpp"
#include "experiments/study/comparison/goal.hpp"
#include "experiments/study/comparison/measured.hpp"
#include "experiments/study/study_file.hpp"
#include "tests/experiments/program_rig.hpp"

namespace trigram::testing::study_measures_test {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

Study study_of(const std::string& lines) {
  const Scratch scratch;
  return read_study(scratch.file("s.cfg", lines));
}

/// A run whose loss falls by a half in each second, from 1 on; a rank sends 1 kB, all ranks take 10 J meanwhile.
nlohmann::json halving_run(int seconds) {
  nlohmann::json curve = nlohmann::json::array();
  for (int t = 0; t <= seconds; ++t) {
    curve.push_back({{"step", 5 * t},
                     {"time_s", t},
                     {"bytes_mean", 1000 * t},
                     {"energy_J", 10 * t},
                     {"loss", std::exp2(-t)},
                     {"accuracy", nullptr}});
  }
  return {{"summary", nlohmann::json::object()}, {"curve", curve}};
}

TEST(WayToAGoal, IsMeasuredInStepsTimeBytesAndJoules) {
  const StudyResult there{{}, "", halving_run(9)}, never{{}, "", halving_run(2)}, failed{{}, "", nullptr, "no"};
  const auto value = [&](const std::string& name, const StudyResult& result) {
    return measured(study_of("[goal]\nloss = 0.1\n[measure]\nvalue = " + name + "\nscale = 2\n"), result);
  };
  // 2^-4 is the first of the halves below 0.1.
  EXPECT_EQ(value("steps_to_goal", there), 2 * 20);
  EXPECT_EQ(value("time_to_goal_s", there), 2 * 4);
  EXPECT_EQ(value("bytes_to_goal", there), 2 * 4000);
  EXPECT_EQ(value("energy_J_to_goal", there), 2 * 40);
  EXPECT_TRUE(std::isnan(value("money_USD_to_goal", there)));
  EXPECT_TRUE(std::isnan(value("time_to_goal_s", never)));
  EXPECT_TRUE(std::isnan(value("time_to_goal_s", failed)));
}

TEST(WayToAGoal, IsLabelledByItsLoss) {
  EXPECT_EQ(study_of("[measure]\nvalue = time_to_goal_s\n[goal]\nloss = 0.5\n").measure.label,
            "time (s) to a loss of 0.5");
  EXPECT_EQ(study_of("[measure]\nvalue = bytes_to_goal\nscale = 1e-06\n[goal]\nloss = 2\n").measure.label,
            "bytes sent by a rank to a loss of 2 x 1e-06");
}

TEST(WayToAGoal, NeedsAGoal) {
  EXPECT_THAT([] { study_of("[measure]\nvalue = time_to_goal_s\n"); },
              ThrowsMessage<UsageError>(HasSubstr("[measure] value = time_to_goal_s needs a [goal]")));
  EXPECT_THAT([] { study_of("[measure]\nvalue = time_to_goal\n[goal]\nloss = 1\n"); },
              ThrowsMessage<UsageError>(HasSubstr("and of a study with a [goal] steps_to_goal time_to_goal_s ")));
}

StudyResult with_value(const Study& study, const std::string& row, const std::string& bandwidth, const char* seed,
                       double seconds, double error = std::nan("")) {
  for (const StudyPoint& point : main_points(study, {})) {
    if (point.row != row || point.axes.at("cluster.nic_bandwidth") != bandwidth || point.axes.at("seed") != seed)
      continue;
    return {point, "", {{"summary", {{"iteration_s", seconds}}}, {"error_bar", {{"error", error}}}}};
  }
  throw Error("no such point");
}

const char* const sweep =
    "[sweep]\ncluster.nic_bandwidth = 10Gbps 1Gbps\nseed = 1 2 3\n[row.a]\n[row.b]\n[row.c]\n[row.d]\n";

TEST(MeasureTable, ShowsRangesOverSeedsAndWhatFailed) {
  const Study study = study_of(sweep);
  std::vector<StudyResult> results = {with_value(study, "a", "10Gbps", "1", 3),
                                      with_value(study, "a", "10Gbps", "2", 1),
                                      with_value(study, "a", "10Gbps", "3", 2),
                                      with_value(study, "b", "10Gbps", "1", 5),
                                      with_value(study, "b", "10Gbps", "2", 5),
                                      with_value(study, "b", "10Gbps", "3", 5),
                                      with_value(study, "c", "10Gbps", "1", 1),
                                      with_value(study, "c", "10Gbps", "2", 4),
                                      with_value(study, "c", "10Gbps", "3", std::nan("")),
                                      with_value(study, "d", "10Gbps", "1", 7),
                                      with_value(study, "d", "10Gbps", "2", 0),
                                      with_value(study, "d", "1Gbps", "1", 0)};
  for (std::size_t i : {10U, 11U}) results[i].run = nullptr, results[i].failure = "it says so";
  EXPECT_EQ(measure_table(study, results),
            "iteration time (s)            10Gbps   1Gbps\n"
            "--------------------------------------------\n"
            "a                           2 [1, 3]       -\n"
            "b                                  5       -\n"
            "c                           4 [1, -]       -\n"
            "d                   7, 1 of 2 failed  failed\n");
}

// b below a by 4 %, both off by 5 %, is less with 71.5 %, and by 100 % surely; seeds move all, and the median alone
// counts.
TEST(FastestTable, IsInTheOrderOfTheAxis) {
  const Study study = study_of(sweep);
  std::vector<StudyResult> results;
  for (const char* seed : {"1", "2", "3"}) {
    const double far = seed[0] - '2';
    for (const auto& [row, seconds] : std::map<std::string, double>{{"a", 1.04}, {"b", 1}, {"c", 3}, {"d", 3.1}})
      results.push_back(with_value(study, row, "1Gbps", seed, seconds + 0.3 * far, 0.05));
    for (const auto& [row, seconds] : std::map<std::string, double>{{"a", 1}, {"b", 2}, {"c", 4}, {"d", 4.1}})
      results.push_back(with_value(study, row, "10Gbps", seed, seconds, 0.05));
  }
  EXPECT_EQ(fastest_table(study, results),
            "error bar of predictions, from the cluster's calibration: \u00b1 5 %\n"
            "cluster.nic_bandwidth  the probability of each to be the fastest\n"
            "10Gbps                 a 100 %\n"
            "1Gbps                  b 72 %, a 28 %\n");
}

// Two normal logarithms, one 1/sqrt(2) deviations of their difference below the other; three alike have a third each.
TEST(Chances, AreThoseOfNormalLogarithms) {
  const double off = std::expm1(0.3);
  const auto less = [](const WithErrorBar& one, const WithErrorBar& other) { return chance_of_less(one, other); };
  EXPECT_NEAR(less({1, off}, {std::exp(0.3), off}), 0.760250, 1e-6);
  EXPECT_NEAR(less({std::exp(0.3), off}, {1, off}), 1 - 0.760250, 1e-6);
  EXPECT_EQ(less({1, 0}, {1.01, 0}), 1);
  EXPECT_EQ(less({1, 0}, {1, 0}), 0.5);
  const std::vector<double> two = chances_of_least({{1, off}, {std::exp(0.3), off}});
  EXPECT_NEAR(two[0], 0.760250, 1e-3);
  for (const double third : chances_of_least({{2, 0.1}, {2, 0.1}, {2, 0.1}})) EXPECT_NEAR(third, 1.0 / 3, 1e-9);
  EXPECT_EQ(chances_of_least({{2, 0}, {1, 0}}), (std::vector<double>{0, 1}));
  EXPECT_NEAR(chances_of_least({{1, 0}, {std::exp(0.3), off}})[0], 0.841345, 1.0 / 256);
}

}  // namespace
}  // namespace trigram::testing::study_measures_test
