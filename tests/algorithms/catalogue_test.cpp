// algorithms/README.md says what the registry says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>

#include "core/step/algorithm.hpp"
#include "tests/support/source_tree.hpp"

namespace trigram::testing {
namespace {

using ::testing::HasSubstr;

std::string catalogue() {
  std::ifstream file(source_tree() / "algorithms/README.md");
  EXPECT_TRUE(file.good());
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// The text between a heading and the next one of its level; empty where there is no such heading.
std::string section(const std::string& title) {
  const std::string text = catalogue();
  const std::string heading = "\n## " + title + "\n";
  const std::size_t begin = text.find(heading);
  if (begin == std::string::npos) return {};
  const std::size_t body = begin + heading.size();
  return text.substr(body, text.find("\n## ", body) - body);
}

std::vector<std::string> lines_with(const std::string& text, const std::string& prefix) {
  std::vector<std::string> found;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(prefix)) found.push_back(line);
  }
  return found;
}

class Catalogue : public ::testing::TestWithParam<std::string> {};

TEST_P(Catalogue, NamesTrigramPaperUseCostAndPhases) {
  const std::string text = section(GetParam());
  ASSERT_FALSE(text.empty()) << "no section '## " << GetParam() << "'";
  const Trigram trigram = Algorithms::make(GetParam())->trigram();
  EXPECT_THAT(text, HasSubstr("- Trigram: " + trigram.symbol() + " " + trigram.words() + "\n"));
  EXPECT_THAT(text, HasSubstr("- Paper: " + Algorithms::describe(GetParam()).paper + "\n"));
  EXPECT_THAT(text, HasSubstr("- When: " + Algorithms::describe(GetParam()).when + "\n"));
  EXPECT_THAT(text, HasSubstr("- When not: " + Algorithms::describe(GetParam()).when_not + "\n"));
  EXPECT_THAT(text, HasSubstr("\n- Rounds: "));
  EXPECT_THAT(text, HasSubstr("\n- Bytes: "));
  EXPECT_THAT(text, HasSubstr("\n1. "));
  EXPECT_THAT(catalogue(), HasSubstr("- [" + GetParam() + "](#" + GetParam() + ")\n"));
}

TEST_P(Catalogue, ListsEveryParameterAndNoOther) {
  std::vector<std::string> expected;
  for (const auto& declared : Algorithms::parameters(GetParam())) {
    expected.push_back("| `" + declared.key + "` | " + declared.fallback + " | " + declared.description + " |");
  }
  const std::string text = section(GetParam());
  EXPECT_EQ(lines_with(text, "| `"), expected);
  EXPECT_EQ(text.find("Parameters: none.") != std::string::npos, expected.empty());
}

TEST_P(Catalogue, OptionTableSaysWhatIsRefused) {
  const auto algorithm = Algorithms::make(GetParam());
  const auto rows = lines_with(section("Options"), "| `" + GetParam() + "` |");
  ASSERT_EQ(rows.size(), 1U);
  const bool vertices = algorithm->trigram().centrality == Trigram::Centrality::decentralized;
  std::string expected = "| `" + GetParam() + "` |";
  for (const Option option : all_options) {
    const bool refused = !algorithm->refuses(option).empty();
    expected += refused ? " no |" : option != Option::overlap && vertices ? " nodes as vertices |" : " yes |";
  }
  EXPECT_EQ(rows[0], expected);
}

INSTANTIATE_TEST_SUITE_P(All, Catalogue, ::testing::ValuesIn(Algorithms::own_names()),
                         [](const auto& one) { return one.param; });

TEST(CatalogueTable, NamesNoAlgorithmThatDoesNotExist) {
  for (const std::string& row : lines_with(section("Options"), "| `")) {
    const std::string name = row.substr(3, row.find('`', 3) - 3);
    EXPECT_TRUE(Algorithms::has(name)) << name;
  }
}

/// "names of the literature" as the registry has them, a row each.
TEST(CatalogueTable, HasARowForEachComposition) {
  std::vector<std::string> expected;
  for (const std::string& name : Algorithms::names()) {
    if (Algorithms::stands_for(name).empty()) continue;
    const Description& description = Algorithms::describe(name);
    const Trigram trigram = Algorithms::make(name)->trigram();
    expected.push_back("| `" + name + "` | " + trigram.symbol() + " | `" + Algorithms::stands_for(name) + "` | " +
                       description.when + " | " + description.when_not + " | " + description.paper + " |");
    for (const std::string& text : {description.summary, description.paper, description.when, description.when_not})
      EXPECT_NE(text, "") << name;
  }
  EXPECT_EQ(lines_with(section("Names of the literature"), "| `"), expected);
}

TEST(CatalogueTable, NamesTheAlgorithmsOfEachTrigram) {
  std::map<std::string, std::string> cells;
  for (const std::string& name : Algorithms::names()) {
    if (Algorithms::describe(name).paper.empty()) continue;  // what tests bring
    std::string& cell = cells[Algorithms::make(name)->trigram().symbol()];
    cell += (cell.empty() ? "`" : ", `") + name + "`";
  }
  EXPECT_EQ(cells.size(), 8U);
  for (const auto& [symbol, names] : cells) EXPECT_THAT(catalogue(), HasSubstr("| " + symbol + " " + names + " |"));
}

TEST(TrigramSymbol, ReadsItsLinesFromTheBottom) {
  // U+2630 ☰ has three whole lines; synchronous, full and centralized are whole, from the bottom up.
  using enum Trigram::Synchrony;
  using enum Trigram::Precision;
  using enum Trigram::Centrality;
  EXPECT_EQ((Trigram{synchronous, full, centralized}.symbol()), "☰");
  EXPECT_EQ((Trigram{synchronous, full, decentralized}.symbol()), "☱");
  EXPECT_EQ((Trigram{synchronous, low, centralized}.symbol()), "☲");
  EXPECT_EQ((Trigram{synchronous, low, decentralized}.symbol()), "☳");
  EXPECT_EQ((Trigram{asynchronous, full, centralized}.symbol()), "☴");
  EXPECT_EQ((Trigram{asynchronous, full, decentralized}.symbol()), "☵");
  EXPECT_EQ((Trigram{asynchronous, low, centralized}.symbol()), "☶");
  EXPECT_EQ((Trigram{asynchronous, low, decentralized}.symbol()), "☷");
}

}  // namespace
}  // namespace trigram::testing
