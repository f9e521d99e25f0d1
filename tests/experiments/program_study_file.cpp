// Studies as files: what they expand to, and what is wrong with malformed ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.hpp"
#include "experiments/study_point.hpp"
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
        Malformed{"[study]\ntitel = x\n", "has no key 'titel' (did you mean 'title'?)"}, Malformed{"[row]\nlr = 1\n", "[row] is no section"},
        Malformed{"[sweep]\nlr =\n", "[sweep] lr has no values"},
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
        Malformed{"[study]\ntitle = a\xff\n", "s.cfg:2 holds bytes that are no UTF-8"}));

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

}  // namespace
}  // namespace trigram
