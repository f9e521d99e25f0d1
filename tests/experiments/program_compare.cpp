// Errors against published points and the order of pairs, by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/values/error.hpp"
#include "experiments/program/tables/tables.hpp"
#include "experiments/study/comparison/compare.hpp"
#include "tests/experiments/program_rig.hpp"

namespace trigram {
namespace {

using ::testing::HasSubstr;

Study study_against(const std::filesystem::path& file) {
  Study study;
  study.rows = {{"a", "a", "", {}}, {"b", "b", "", {}}};
  study.sweep = {{"bw", {"1Gbps", "2Gbps"}}};
  study.measure.scale = 10;
  study.target = Target{file, "gbps", "system", "seconds", "bw", "Gbps", 1, 1};
  return study;
}

StudyResult result(const std::string& series, const std::string& bandwidth, double seconds) {
  return {{series, series, "", {{"bw", bandwidth}}, {}}, "", {{"summary", {{"iteration_s", seconds}}}}};
}

TEST(Compare, MeetsPointsBySeriesAndX) {
  const Scratch scratch;
  const Study study = study_against(scratch.file("t.csv", "system,gbps,seconds\na,1,100\na,2,50\nb,1,80\nc,1,1\n"));
  const auto points =
      compare(study, read_published(*study.target),
              {result("a", "1Gbps", 11), result("a", "2Gbps", 4), result("b", "1Gbps", 12), result("b", "2Gbps", 1)});
  ASSERT_EQ(points.size(), 3U);
  EXPECT_DOUBLE_EQ(points[0].ours, 110);
  EXPECT_DOUBLE_EQ(mean_error(points), (0.1 + 0.2 + 0.5) / 3);
  const Order order = order_of_pairs(points);
  EXPECT_EQ(order.pairs, 1);
  EXPECT_EQ(order.right, 0);
}

TEST(Compare, PairsWithinATenthHaveNoOrder) {
  EXPECT_EQ(order_of_pairs({{"a", "", 1, 100, 5}, {"b", "", 1, 110, 4}}).pairs, 0);
  EXPECT_EQ(order_of_pairs({{"a", "", 1, 100, 5}, {"b", "", 2, 200, 4}}).pairs, 0);
  EXPECT_EQ(order_of_pairs({{"a", "", 1, 100, 4}, {"b", "", 1, 111, 5}}).right, 1);
}

TEST(Compare, TablesSplitAimAndCalibration) {
  Study study = study_against("");
  study.calibration = Calibration{{"a"}, {}, {}, {}};
  const std::string table =
      error_table(study, {{"a", "", 1, 100, 110}, {"b", "", 1, 100, 120}, {"b", "", 2, 100, 150}}, {});
  EXPECT_THAT(table, HasSubstr("calibrated"));
  EXPECT_THAT(table, ::testing::ContainsRegex("all predicted +1 +20 %"));
  EXPECT_THAT(table, ::testing::ContainsRegex("all calibrated +1 +10 %"));
  EXPECT_THAT(table, HasSubstr("(no aim)"));
  EXPECT_THAT(table, HasSubstr("50 % at 2"));
}

TEST(Compare, GivenSeriesPredictNothing) {
  Study study = study_against("");
  study.calibration = Calibration{{}, {"a"}, {}, {}};
  const std::string table = error_table(study, {{"a", "", 1, 100, 110}, {"b", "", 1, 100, 120}}, {});
  EXPECT_THAT(table, ::testing::ContainsRegex("all predicted +1 +20 %"));
}

TEST(Compare, NamesLineAndColumnOfABadTable) {
  const Scratch scratch;
  const auto message = [&](const std::string& text) {
    try {
      read_published(*study_against(scratch.file("t.csv", text)).target);
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  EXPECT_THAT(message("system,mbps,seconds\na,1,1\n"), HasSubstr("t.csv:1: there is no column 'gbps'"));
  EXPECT_THAT(message("system,gbps,seconds\na,1\n"), HasSubstr("t.csv:2: 2 cells"));
  EXPECT_THAT(message("system,gbps,seconds\na,1,soon\n"), HasSubstr("t.csv:2: 'soon' is not a number"));
  EXPECT_THAT(message("system,gbps,seconds\na,1,0\n"), HasSubstr("not above 0"));
  EXPECT_THAT(message("system,gbps,seconds\n"), HasSubstr("t.csv' has no published points"));
  EXPECT_THAT(message(""), HasSubstr("t.csv' has no published points"));
}

TEST(Compare, NamesTheStudyWhosePointsCannotBeRead) {
  const Scratch scratch;
  for (const std::string file : {".", "none.csv"}) {
    const auto study = scratch.file(
        "s.cfg", "[sweep]\nlr = 1 2\n[target]\nfile = " + file + "\nx = x\nseries = s\nvalue = v\naxis = lr\n");
    const Ended ended = program("study " + study.string() + " --plot off --out " + (scratch / "out").string());
    EXPECT_EQ(ended.code, 2);
    EXPECT_THAT(ended.text, ::testing::AllOf(HasSubstr(study.string() + ": [target] file: "),
                                             HasSubstr("does not exist or is no file")));
    EXPECT_FALSE(std::filesystem::exists(scratch / "out"));
  }
}

}  // namespace
}  // namespace trigram
