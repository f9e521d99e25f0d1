// The studies that the program comes with: each is whole, and every row of it takes a step.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "core/backend.hpp"
#include "experiments/settings/places.hpp"
#include "experiments/study/run_pool.hpp"
#include "experiments/study/study_file.hpp"
#include "tests/experiments/program_rig.hpp"

namespace trigram {
namespace {

class ShippedStudy : public ::testing::TestWithParam<std::string> {
 protected:
  Study study() const { return read_study(find_config("studies", "study", GetParam())); }
};

TEST_P(ShippedStudy, HasNotesWhosePicturesAreThere) {
  const Study read = study();
  ASSERT_TRUE(read.notes.has_value());
  ASSERT_TRUE(std::filesystem::exists(*read.notes)) << *read.notes;
  const std::string page = text_of(*read.notes);
  const std::regex picture(R"(\]\(([^)]*\.svg)\))");
  for (std::sregex_iterator found(page.begin(), page.end(), picture), end; found != end; ++found)
    EXPECT_TRUE(std::filesystem::exists(read.notes->parent_path() / (*found)[1].str())) << (*found)[1];
}

/// One step at the first swept values of each row; rows of measurements are as many as measurements.
TEST_P(ShippedStudy, TakesAStepOfEachRow) {
  if (!Backends::has("sim")) GTEST_SKIP() << "this build has no simulator";
  const Study read = study();
  if (has_observations(read)) GTEST_SKIP() << "its runs are its measurements";
  std::set<std::string> rows;
  std::vector<StudyPoint> points;
  for (const StudyPoint& point : main_points(read, {})) {
    if (!rows.insert(point.row).second) continue;
    points.push_back(point);
    points.back().settings["steps"] = "1";
  }
  const Scratch scratch;
  for (const StudyResult& result : RunPool(scratch.path(), 2).run(points, "runs"))
    EXPECT_TRUE(std::isfinite(measured(read, result))) << result.point.row;
}

INSTANTIATE_TEST_SUITE_P(Studies, ShippedStudy, ::testing::ValuesIn(shipped_names("studies")),
                         [](const auto& one) { return one.param; });

}  // namespace
}  // namespace trigram
