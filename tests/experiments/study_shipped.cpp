// The studies that the program comes with have pages, and the pictures that those show.
#include <gtest/gtest.h>

#include <regex>

#include "experiments/settings/places.hpp"
#include "experiments/study/study_file.hpp"
#include "tests/experiments/program_rig.hpp"

namespace trigram {
namespace {

class ShippedStudy : public ::testing::TestWithParam<std::string> {};

TEST_P(ShippedStudy, HasNotesWhosePicturesAreThere) {
  const Study study = read_study(find_config("studies", "study", GetParam()));
  ASSERT_TRUE(study.notes.has_value());
  ASSERT_TRUE(std::filesystem::exists(*study.notes)) << *study.notes;
  const std::string page = text_of(*study.notes);
  const std::regex picture(R"(\]\(([^)]*\.svg)\))");
  for (std::sregex_iterator found(page.begin(), page.end(), picture), end; found != end; ++found)
    EXPECT_TRUE(std::filesystem::exists(study.notes->parent_path() / (*found)[1].str())) << (*found)[1];
}

INSTANTIATE_TEST_SUITE_P(Studies, ShippedStudy, ::testing::ValuesIn(shipped_names("studies")),
                         [](const auto& one) { return one.param; });

}  // namespace
}  // namespace trigram
