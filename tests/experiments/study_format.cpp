// The page about study files names every section and key that the reader takes, and no other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <set>

#include "core/values/error.hpp"
#include "experiments/settings/places.hpp"
#include "experiments/study/study_file.hpp"
#include "tests/experiments/program_rig.hpp"

namespace trigram {
namespace {

using Names = std::set<std::string>;

std::string page() { return text_of(shipped_folder("studies") / "README.md"); }

/// Sections of the page with the keys of their tables.
std::map<std::string, Names> described() {
  std::map<std::string, Names> sections;
  std::string section;
  std::istringstream lines(page());
  for (std::string line; std::getline(lines, line);) {
    std::smatch found;
    if (std::regex_match(line, found, std::regex(R"(## \[(.*)\])"))) sections[section = found[1]];
    if (std::regex_search(line, found, std::regex(R"(^\| `(\w+)` \|)"))) sections[section].insert(found[1]);
  }
  return sections;
}

/// What the reader says of a file of these lines; empty where it takes them.
std::string refusal(const std::string& lines) {
  const Scratch scratch;
  try {
    read_study(scratch.file("s.cfg", lines));
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

/// The names behind `label`, apart by blanks, commas and "and".
Names listed(const std::string& message, const std::string& label) {
  Names names;
  const std::size_t begin = message.find(label);
  EXPECT_NE(begin, std::string::npos) << message;
  std::istringstream words(std::regex_replace(message.substr(begin + label.size()), std::regex(","), ""));
  for (std::string word; words >> word;) names.insert(word);
  names.erase("and");
  return names;
}

TEST(StudyFormat, IsDescribedWithEverySection) {
  Names sections;
  for (const auto& [name, keys] : described()) sections.insert(name);
  EXPECT_EQ(sections, listed(refusal("[no_such_section]\nkey = 1\n"), "; there are "));
}

TEST(StudyFormat, IsDescribedWithEveryKey) {
  for (const auto& [name, keys] : described()) {
    const std::string section = std::regex_replace(name, std::regex("NAME"), "a");
    const std::string refused = refusal("[" + section + "]\nno_such_key = 1\n");
    if (keys.contains("FLAG")) {
      EXPECT_THAT(refused, ::testing::Not(::testing::HasSubstr("no_such_key"))) << name << " takes any key";
    } else {
      EXPECT_EQ(keys, listed(refused, "it takes:")) << name;
    }
  }
}

TEST(StudyFormat, DescribesKeysBesideFlagsThatAreNoFlags) {
  const auto sections = described();
  const Scratch scratch;
  const Study study = read_study(scratch.file("s.cfg", "[row.a]\nseries = b\npanel = c\n[variant.v]\nrows = a\n"));
  EXPECT_EQ(sections.at("row.NAME"), (Names{"FLAG", "panel", "series"}));
  EXPECT_EQ(study.rows.front().series, "b");
  EXPECT_EQ(study.rows.front().panel, "c");
  EXPECT_TRUE(study.rows.front().settings.empty());
  EXPECT_EQ(sections.at("variant.NAME"), (Names{"FLAG", "rows", "also"}));
  EXPECT_TRUE(study.variants.front().settings.empty());
}

TEST(StudyFormat, OfThePagesExampleIsRead) {
  const std::string text = page();
  const std::size_t begin = text.find("```\n") + 4;
  const Scratch scratch;
  const Study study = read_study(scratch.file("s.cfg", text.substr(begin, text.find("```", begin) - begin)));
  EXPECT_EQ(study.rows.size(), 2U);
  EXPECT_EQ(study.sweep.front().values.size(), 3U);
}

}  // namespace
}  // namespace trigram
