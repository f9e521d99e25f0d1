// How learning curves are drawn, as study files and `trigram plot` say it, and where pictures of several runs go.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/training/backend.hpp"
#include "core/values/error.hpp"
#include "experiments/study/comparison/curve_view.hpp"
#include "experiments/study/study_file.hpp"
#include "experiments/study/study_files.hpp"
#include "tests/experiments/program_rig.hpp"

namespace trigram::testing::study_curves_test {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;
namespace fs = std::filesystem;

TEST(CurveView, OfAStudyReachesItsPictures) {
  const Scratch scratch;
  const Study study = read_study(scratch.file(
      "s.cfg",
      "[curves]\nagainst = time bytes\nscores = loss\nx_axis = log\nrange = time=0s:2min bytes=1kB:1MiB loss=0.1:3\n"));
  EXPECT_EQ(study_facts(study)["curves"],
            nlohmann::json::parse(R"({"against": ["time", "bytes"], "scores": ["loss"], "x_axis": "log",
                                      "ranges": {"time": [0, 120], "bytes": [1000, 1048576], "loss": [0.1, 3]}})"));
  EXPECT_EQ(study_facts(read_study(scratch.file("t.cfg", "[run]\nlr = 1\n")))["curves"], nlohmann::json::object());
}

struct Wrong {
  void (*set)(CurveView&, const std::string&);
  const char* text;
  const char* message;
};

class WrongView : public ::testing::TestWithParam<Wrong> {};

TEST_P(WrongView, IsOneClearMessage) {
  CurveView view;
  EXPECT_THAT([&] { GetParam().set(view, GetParam().text); }, ThrowsMessage<UsageError>(HasSubstr(GetParam().message)));
}

INSTANTIATE_TEST_SUITE_P(
    All, WrongView,
    ::testing::Values(
        Wrong{set_against, "tmie",
              "'tmie' is nothing that curves are drawn against (did you mean 'time'?); there are: step time"},
        Wrong{set_against, "loss", "'loss' is nothing that curves are drawn against"},
        Wrong{set_against, "time,time", "'time' is given twice"},
        Wrong{set_scores, "time", "'time' is nothing that curves show; there are: loss accuracy worst_accuracy"},
        Wrong{set_x_axis, "logarithmic", "'logarithmic' is neither linear nor log"},
        Wrong{set_ranges, "time=5s", "'time=5s' is no range; write NAME=LOW:HIGH"},
        Wrong{set_ranges, "time=0:5", "'5'"}, Wrong{set_ranges, "loss=2:1", "its first value is to be less"},
        Wrong{set_ranges, "speed=0:1", "'speed' is nothing that curves have a range of"},
        Wrong{set_ranges, "loss=0:1,loss=0:2", "'loss' has two ranges"}));

class PlottedRuns : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!Backends::has("sim")) GTEST_SKIP() << "this build has no simulator";
    if (!has_matplotlib()) GTEST_SKIP() << "matplotlib is missing";
    for (const char* run : {"a", "b"})
      ASSERT_EQ(here("run --workload quadratic --steps 4 --evaluate-every 1 --out " + std::string(run)).code, 0);
  }
  Ended here(const std::string& arguments) const {
    return shell("cd " + scratch.path().string() + " && " + program_path() + " " + arguments + " 2>&1");
  }
  std::size_t files_in(const std::string& folder) const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(scratch / folder), {}));
  }

  Scratch scratch;
};

TEST_F(PlottedRuns, BesideEachOtherGoIntoAFolderOfTheirOwn) {
  const std::size_t before = files_in("a");
  const Ended ended = here("plot a b --formats svg");
  EXPECT_EQ(ended.code, 0) << ended.text;
  EXPECT_THAT(ended.text, HasSubstr("results/compared/compared_curves.svg\n"));
  EXPECT_TRUE(fs::exists(scratch / "results/compared/compared_curves.svg"));
  EXPECT_EQ(files_in("a"), before) << "nothing is written into what is read";
  EXPECT_EQ(here("plot a b --formats svg --out c/d --against time --scores loss --x-axis log --range time=0s:1s").code,
            0);
  EXPECT_TRUE(fs::exists(scratch / "c/d/compared_curves.svg"));
}

TEST_F(PlottedRuns, LeaveNothingWhereAFlagIsWrong) {
  const Ended ended = here("plot a b --out c --range time=5");
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.text, HasSubstr("trigram plot: --range: 'time=5' is no range"));
  EXPECT_EQ(here("plot a missing --out c").code, 2);
  EXPECT_FALSE(fs::exists(scratch / "c"));
}

}  // namespace
}  // namespace trigram::testing::study_curves_test
