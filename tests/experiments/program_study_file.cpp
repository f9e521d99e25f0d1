// Studies as files: what they expand to, and what is wrong with malformed ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/values/error.hpp"
#include "experiments/program/tables/tables.hpp"
#include "experiments/record/run_record.hpp"
#include "experiments/study/comparison/winner_map.hpp"
#include "experiments/study/study_file.hpp"
#include "experiments/study/study_point.hpp"
#include "tests/experiments/program_rig.hpp"

namespace trigram {
namespace {

using ::testing::HasSubstr;

const char* const whole = R"([study]
title = A study
[run]
steps = 3
lr = 0.5
[sweep]
cluster.nic_bandwidth = 1Gbps 2Gbps
seed = 1:3:1
[row.first]
algorithm = all_reduce
[row.second]
series = other
algorithm = bytegrad
lr = 0.1
[variant.serial_0.5]
rows = second
overlap = off
)";

TEST(Study, IsTheProductOfRowsAndSweptValues) {
  const Scratch scratch;
  const Study study = read_study(scratch.file("s.cfg", whole));
  EXPECT_EQ(study.title, "A study");
  const auto points = main_points(study, {{"cluster.nic_cap", "9Gbps"}});
  ASSERT_EQ(points.size(), 2U * 2U * 3U);
  EXPECT_EQ(points[0].series, "first");
  EXPECT_EQ(points[0].settings.at("lr"), "0.5");
  EXPECT_EQ(points[0].settings.at("cluster.nic_cap"), "9Gbps");
  EXPECT_EQ(points[11].series, "other");
  EXPECT_EQ(points[11].settings.at("lr"), "0.1");
  EXPECT_EQ(points[11].axes.at("cluster.nic_bandwidth"), "2Gbps");
  EXPECT_EQ(points[11].axes.at("seed"), "3");
}

TEST(Study, SweepsKeysThatGoTogether) {
  const Scratch scratch;
  const std::string keys = "[sweep]\nseed = 1 2\nsteps&global-batch = 2&64 4&128\n[measure]\nx = steps&global-batch\n";
  const Study study = read_study(scratch.file("s.cfg", keys));
  EXPECT_EQ(study.sweep.front().key, "steps&global-batch") << "x comes first";
  const auto points = main_points(study, {});
  ASSERT_EQ(points.size(), 4U);
  EXPECT_EQ(points[2].settings, (Settings{{"steps", "4"}, {"global-batch", "128"}, {"seed", "1"}}));
  EXPECT_EQ(points[2].axes.at("steps&global-batch"), "4&128");
  EXPECT_THAT([&] { read_study(scratch.file("w.cfg", "[sweep]\nsteps&lr = 2&1 4\n")); },
              ::testing::ThrowsMessage<UsageError>(HasSubstr("'4'; write a value for each of its 2 keys")));
  EXPECT_THAT([&] { read_study(scratch.file("t.cfg", "[sweep]\nsteps = 2 3\nsteps&lr = 2&1 4&2\n")); },
              ::testing::ThrowsMessage<UsageError>(HasSubstr("[sweep] sweeps 'steps' twice")));
}

const char* const map_lines =
    "[sweep]\ncluster.nic_bandwidth = 1Gbps 2Gbps\ncluster.nic_latency = 1us 5us\n[map]\nagainst = plain\n"
    "[row.plain]\n[row.first]\n[row.second]\n[row.third]\n";

/// What a run of so many seconds an iteration leaves, at the second bandwidth and the first latency.
StudyResult took(const std::string& row, double seconds, double error) {
  const Settings axes{{"cluster.nic_bandwidth", "2Gbps"}, {"cluster.nic_latency", "1us"}};
  return {{row, row, "", axes, {}}, "", {{"summary", {{"iteration_s", seconds}}}, {"error_bar", {{"error", error}}}}};
}

// 1.04 is more than 1, both off by 5 %, with 71 %; 1.2 with 99.6 %.
TEST(WinnerMap, AdvisesTheFirstRowWhoseOrderWithTheFastestIsNotCalled) {
  const Scratch scratch;
  const Study study = read_study(scratch.file("s.cfg", map_lines));
  const auto all = winners(
      study, {took("third", 1, 0.05), took("plain", 3, 0.05), took("first", 1.2, 0.05), took("second", 1.04, 0.05)}, {},
      {});
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].x + " " + all[0].y, "2Gbps 1us");
  EXPECT_EQ(all[0].best, "third");
  EXPECT_EQ(all[0].not_called, (std::vector<std::string>{"second", "third"}));
  EXPECT_NEAR(all[0].chance_of("third"), 0.71, 0.01);
  EXPECT_NEAR(all[0].chance_of("second"), 0.29, 0.01);
  EXPECT_EQ(all[0].advised(), "second");
  EXPECT_DOUBLE_EQ(all[0].speedup.value(), 3);
  EXPECT_TRUE(all[0].calls("plain"));
}

// The times of both are between 1 and 4; in each draw the second takes 4 % more, or 4 % less where it takes more steps.
TEST(WinnerMap, IsOfDrawsWhereThereAreSuch) {
  const Scratch scratch;
  const Study study = read_study(scratch.file("s.cfg", map_lines));
  std::vector<StudyResult> results{took("plain", 2, 0.05), took("first", 2.08, 0.05)};
  DrawnTimes drawn;
  for (StudyResult& one : results) {
    one.folder = one.point.row;
    for (const double seconds : {1, 2, 3, 4})
      drawn[one.folder].draws.push_back({one.point.row == "plain" ? seconds : 1.04 * seconds, 0});
  }
  const auto by_bars = winners(study, results, {}, {}), by_draws = winners(study, results, {}, drawn);
  EXPECT_LT(by_bars[0].chance_of("plain"), called);
  EXPECT_FALSE(by_bars[0].calls("first"));
  EXPECT_EQ(by_draws[0].chance_of("plain"), 1);
  EXPECT_TRUE(by_draws[0].calls("first"));
  const auto to_goal = winners(study, results, StepsToGoal{{"plain", 100}, {"first", 92}}, drawn);
  EXPECT_EQ(to_goal[0].best, "first");
  EXPECT_EQ(to_goal[0].chance_of("first"), 1);
}

TEST(WinnerMap, CountsStepsToTheGoalAndLeavesOutWhatNeverGetsThere) {
  const Scratch scratch;
  const Study study = read_study(scratch.file("s.cfg", map_lines));
  const auto all = winners(study, {took("plain", 3, 0), took("first", 1, 0), took("second", 0.1, 0)},
                           StepsToGoal{{"plain", 10}, {"first", 20}}, {});
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].best, "first");
  EXPECT_DOUBLE_EQ(all[0].value, 20);
  EXPECT_DOUBLE_EQ(all[0].speedup.value(), 1.5);
}

/// A run whose loss is below the goal at that step.
StudyResult learned(const std::string& row, int at) {
  nlohmann::json curve = nlohmann::json::array();
  for (const int step : {0, at})
    curve.push_back({{"step", step}, {"time_s", 1}, {"bytes_mean", 1}, {"loss", step == at ? 0.1 : 9}});
  return {{row, row, learning_runs, {}, {}}, "", {{"curve", curve}}};
}

TEST(WinnerMap, HasTheMedianOfLearningRunsWhereMostGetThere) {
  const Scratch scratch;
  Study study = read_study(scratch.file("s.cfg", map_lines));
  study.goal = Goal{1};
  const std::vector<StudyResult> learning{learned("plain", 30), learned("plain", 10), learned("plain", 20)};
  EXPECT_EQ(steps_to_goal(study, learning), (StepsToGoal{{"plain", 20}}));
}

TEST(WinnerMap, IsRefusedWithoutTwoKeysOfTheCluster) {
  const Scratch scratch;
  EXPECT_THAT([&] { read_study(scratch.file("s.cfg", "[sweep]\nlr = 1 2\n[map]\nagainst = a\n[row.a]\n")); },
              ::testing::ThrowsMessage<UsageError>(HasSubstr("[map] needs two keys in [sweep], both of the cluster")));
  EXPECT_THAT([&] { read_study(scratch.file("t.cfg", map_lines + std::string("[goal]\nloss = 1\n"))); },
              ::testing::ThrowsMessage<UsageError>(HasSubstr("[map] takes [goal] and [learning]")));
}

TEST(Study, SweepsSchedulesAndOptimizers) {
  const Scratch scratch;
  const Study study = read_study(
      scratch.file("s.cfg", "[sweep]\nschedule = constant linear:warmup=2,final=0.1\n[row.a]\noptimizer = adam\n"));
  const auto points = main_points(study, {});
  ASSERT_EQ(points.size(), 2U);
  EXPECT_EQ(RunConfig("run", points[1].settings).training.schedule, "linear:warmup=2,final=0.1");
  const Study wrong = read_study(scratch.file("w.cfg", "[sweep]\nschedule = constant linaer\n[row.a]\nlr = 1\n"));
  EXPECT_THAT([&] { check_run(RunConfig("run", main_points(wrong, {})[1].settings)); },
              ::testing::ThrowsMessage<UsageError>(HasSubstr("unknown schedule 'linaer' (did you mean 'linear'?)")));
}

TEST(Study, VariantsRepeatTheRowsThatTheyName) {
  const Scratch scratch;
  const Study study = read_study(scratch.file("s.cfg", whole));
  const auto points = variant_points(study, {});
  ASSERT_EQ(points.size(), 6U);
  EXPECT_EQ(points[0].variant, "serial_0.5");
  EXPECT_EQ(points[0].row, "second");
  EXPECT_EQ(points[0].settings.at("overlap"), "off");
}

struct Malformed {
  const char* text;
  const char* message;
};

class MalformedStudy : public ::testing::TestWithParam<Malformed> {};

TEST_P(MalformedStudy, IsOneClearMessage) {
  const Scratch scratch;
  const auto file = scratch.file("s.cfg", GetParam().text);
  EXPECT_THAT([&] { read_study(file); }, ::testing::ThrowsMessage<UsageError>(HasSubstr(GetParam().message)));
}

INSTANTIATE_TEST_SUITE_P(
    All, MalformedStudy,
    ::testing::Values(
        Malformed{"[stdy]\ntitle = x\n", "s.cfg:1: [stdy] is no section"},
        Malformed{"[study]\ntitel = x\n", "has no key 'titel' (did you mean 'title'?)"},
        Malformed{"[rnu]\nlr = 1\n", "[rnu] is no section of a study (did you mean 'run'?); there are study, run"},
        Malformed{"[rwo.a]\nlr = 1\n", "[rwo.a] is no section of a study (did you mean 'row'?); there are"},
        Malformed{"[run]\nsteps = 1\n[measure]\nvalue = sumary.loss\n",
                  "is no number of run.json (did you mean 'summary.loss'?); there are:"},
        Malformed{"[sweep]\nseed = 1 2\n[measure]\nx = sede\n", "x = sede is not in [sweep] (did you mean 'seed'?)"},
        Malformed{"[row]\nlr = 1\n", "[row] is no section"}, Malformed{"[sweep]\nlr =\n", "[sweep] lr has no values"},
        Malformed{"[measure]\nscale = many\n", "'many' is not a number"},
        Malformed{"[variant.a]\nrows = b\n", "names row 'b'"}, Malformed{"[target]\nfile = a.csv\n", "[target] lacks"},
        Malformed{"[calibrate]\nrows = all\nlr = 1 2\n", "[calibrate] needs a [target]"},
        Malformed{"[selection]\nchoose = lr\n", "[selection] needs choose, from and seeds"},
        Malformed{"", "s.cfg' is empty"}, Malformed{"# only this\n", "s.cfg' is empty"},
        Malformed{"[run]\nlr = 1\n[row.../../a]\nlr = 2\n", "s.cfg:3: the name '../../a' cannot be part"},
        Malformed{"[row...]\nlr = 2\n", "s.cfg:1: the name '..' cannot be part"},
        Malformed{"[variant.a b]\nlr = 2\n", "s.cfg:1: the name 'a b' cannot be part"},
        Malformed{"[row.a]\nlr = 1\n[row.b]\n[row.a]\n", "s.cfg:4: [row.a] is given twice; first in line 1"},
        Malformed{"[study]\ntitle = a\ntitle = b\n", "s.cfg:3: 'title' is given twice; first in line 2"},
        Malformed{"[sweep]\nlr = 1 2 1\n", "[sweep] lr has '1' twice"},
        Malformed{"[study]\ntitle = a\xff\n", R"(s.cfg:2, 'title = a\xff', holds bytes that are no UTF-8)"},
        Malformed{"[measure]\nvalue = summary.foo\n",
                  "[measure] value = summary.foo is no number of run.json (did you mean 'summary.loss'?); there are: "},
        Malformed{"[selection]\nchoose = lr\nfrom = 1\nseeds = 1\nby = loss\n",
                  "[selection] by = loss is no number of run.json; there are: summary.accuracy "},
        Malformed{"[sweep]\nlanes = 1 2\nseed = 1 2\nlr = 1 2\n[target]\nfile = a.csv\nx = x\nseries = "
                  "s\nvalue = v\naxis = lanes\n",
                  "[sweep] lr: published points are compared along one swept key"},
        Malformed{"[sweep]\nlr = 1 2\n[target]\nfile = a.csv\nx = x\nseries = s\nvalue = v\naxis = lr\nunit = Gbps\n",
                  "s.cfg: [target] unit = Gbps, but lr is swept over '1'"},
        Malformed{"[sweep]\nalgorithm = qsgd\n[target]\nfile = a.csv\nx = x\nseries = s\nvalue = v\naxis = algorithm\n",
                  "s.cfg: [target] axis = algorithm: 'qsgd' is not a number"}));

TEST(Study, ARowNeedsNoKeys) {
  const Scratch scratch;
  const Study study = read_study(scratch.file("s.cfg", "[run]\nsteps = 3\n[row.plain]\n[row.other]\nlr = 2\n"));
  ASSERT_EQ(study.rows.size(), 2U);
  EXPECT_EQ(study.rows[0].name, "plain");
  EXPECT_EQ(main_points(study, {})[0].place, (scratch / "s.cfg").string() + ":3: row 'plain': ");
}

TEST(Study, ItsFileIsNamedAsItsResultsWillBe) {
  const Scratch scratch;
  EXPECT_THAT([&] { read_study(scratch.file("a b.cfg", "[run]\nsteps = 3\n")); },
              ::testing::ThrowsMessage<UsageError>(HasSubstr("the study's name 'a b' cannot be part")));
}

/// Against published points, calibrated as `calibrated` says.
std::string calibrated_study(const std::string& calibrated) {
  return "[sweep]\nlr = 1 2\n[target]\nfile = a.csv\nx = x\nseries = s\nvalue = v\naxis = lr\n[calibrate]\nrows = all\n"
         "cluster.nic_cap = 1Gbps 2Gbps\n[calibrated]\n" +
         calibrated;
}

TEST(Study, KnowsItsCalibratedValues) {
  const Scratch scratch;
  const auto file = [&](const std::string& text) { return scratch.file("s.cfg", calibrated_study(text)); };
  const Study study = read_study(file("cluster.nic_cap = 2Gbps\n"));
  EXPECT_EQ(study.calibration->known, (Settings{{"cluster.nic_cap", "2Gbps"}}));
  const auto refused = [&](const std::string& text, const std::string& message) {
    EXPECT_THAT([&] { read_study(file(text)); }, ::testing::ThrowsMessage<UsageError>(HasSubstr(message)));
  };
  refused("cluster.nic_cap = 3Gbps\n",
          "[calibrated] cluster.nic_cap = 3Gbps is none of the values that [calibrate] tries");
  refused("lanes = 2\n", "[calibrated] lacks cluster.nic_cap");
  refused("cluster.nic_cap = 2Gbps\nlanes = 2\n", "[calibrated] names lanes, which [calibrate] does not search for");
}

TEST(Study, LabelsFollowTheMeasure) {
  const Scratch scratch;
  const auto label = [&](const std::string& measure) {
    return read_study(scratch.file("s.cfg", "[measure]\n" + measure)).measure.label;
  };
  EXPECT_EQ(label("scale = 1\n"), "iteration time (s)");
  EXPECT_EQ(label("value = summary.samples_per_s\n"), "samples/s");
  EXPECT_EQ(label("value = summary.breakdown.wire_s\n"), "breakdown wire time (s)");
  EXPECT_EQ(label("value = summary.bytes_per_step_mean\nscale = 1e-6\n"), "bytes per step mean x 1e-06");
  EXPECT_EQ(label("value = summary.loss\nlabel = cross-entropy\n"), "cross-entropy");
}

TEST(Study, EverySweptKeyButTheFirstAndTheSeedMakesLines) {
  const Scratch scratch;
  const Study study = read_study(scratch.file(
      "s.cfg", "[sweep]\ncluster.slow = 1:1 1:2\nlanes = 1 2\nseed = 1 2 3\n[row.a]\nlr = 1\n[row.b]\nlr = 2\n"));
  EXPECT_EQ(lines_of(study), (std::vector<std::string>{"a, lanes=1", "a, lanes=2", "b, lanes=1", "b, lanes=2"}));
  std::vector<StudyResult> results;
  for (const StudyPoint& point : main_points(study, {})) {
    const double value = (point.row == "a" ? 0 : 1000) + std::stod(point.axes.at("lanes")) * 100 +
                         std::stod(point.axes.at("seed")) * 10 + std::stod(point.axes.at("cluster.slow").substr(2));
    results.push_back({point, "", {{"summary", {{"iteration_s", value}}}}});
  }
  EXPECT_EQ(measure_table(study, results),
            "iteration time (s)                1:1                1:2\n"
            "--------------------------------------------------------\n"
            "a, lanes=1             121 [111, 131]     122 [112, 132]\n"
            "a, lanes=2             221 [211, 231]     222 [212, 232]\n"
            "b, lanes=1          1121 [1111, 1131]  1122 [1112, 1132]\n"
            "b, lanes=2          1221 [1211, 1231]  1222 [1212, 1232]\n");
}

}  // namespace
}  // namespace trigram
