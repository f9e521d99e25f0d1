// Reads search spaces.
#include "experiments/program/studies/search_space.hpp"

#include <algorithm>
#include <cmath>
#include <regex>
#include <set>

#include "core/registry/spelling.hpp"
#include "core/values/decimal.hpp"
#include "core/values/error.hpp"
#include "core/values/quoted.hpp"
#include "core/values/units.hpp"
#include "experiments/settings/files/config_file.hpp"
#include "experiments/settings/grid.hpp"
#include "experiments/settings/run_config.hpp"

namespace trigram {
namespace {

/// Flags that are no choice: where settings come from, what only reports, and the seed, whose luck is no merit.
const std::set<std::string> no_choices{"checkpoint", "checkpoint-every", "config", "out",   "progress",
                                       "record",     "resume",           "seed",   "trace", "system"};

double number_of(const std::string& text) {
  const std::optional<double> value = finite_number(text);
  require(value.has_value(), Quoted(text), " is no number");
  return *value;
}

/// nullopt where the words are values.
std::optional<ChoiceRange> read_range(const std::vector<std::string>& words) {
  static const std::regex form(R"(([-+]?[0-9]*\.?[0-9]+(?:e[-+]?[0-9]+)?)([A-Za-z/]*)\.\.([-+]?[0-9]*\.?[0-9]+)"
                               R"((?:e[-+]?[0-9]+)?)([A-Za-z/]*))");
  std::smatch found;
  if (!std::regex_match(words.front(), found, form)) return std::nullopt;
  const auto is_whole = [](const std::string& text) { return text.find_first_of(".e") == std::string::npos; };
  ChoiceRange range{number_of(found[1]), number_of(found[3]), found[4]};
  range.whole = range.unit.empty() && is_whole(found[1]) && is_whole(found[3]);
  range.log = words.size() == 2 && words[1] == "log";
  require(words.size() == 1 || range.log, "behind ", words.front(), " stands ", Quoted(words.back()),
          "; a range is LOW..HIGH, or LOW..HIGH log");
  require(found[2] == found[4], words.front(), " has two units; write both ends in one, as 1MiB..100MiB");
  require(range.low < range.high, words.front(), " is no range; its first number must be the lower one");
  require(!range.log || range.low > 0, words.front(), " log begins at ", range.low,
          ", which has no logarithm; begin above 0");
  constexpr double most = 1e15;
  require(std::fabs(range.low) <= most && std::fabs(range.high) <= most, words.front(), " is wider than ", most);
  return range;
}

std::string text_of(double value) {
  constexpr int digits = 15;
  return decimal(value, digits);
}

void require_flag(const std::string& key) {
  std::vector<std::string> known;
  for (const Params::Declared& flag : run_flags()) {
    if (!no_choices.contains(flag.key)) known.push_back(flag.key);
  }
  const std::string flag = key.substr(0, key.find('.'));
  require(!no_choices.contains(flag), "--", flag, " is nothing to choose");
  require(std::ranges::find(known, flag) != known.end(), Quoted(flag), " is no flag of trigram run",
          [&] { return did_you_mean(flag, known); });
}

/// "[FLAG.VALUE]", where an earlier line chooses VALUE of FLAG.
Settings condition(const std::string& section, const std::vector<Choice>& choices) {
  if (section.empty()) return {};
  const std::size_t dot = section.find('.');
  const std::string flag = section.substr(0, dot);
  const std::string value = dot == std::string::npos ? "" : section.substr(dot + 1);
  const bool chosen = std::ranges::any_of(choices, [&](const Choice& choice) {
    return choice.key == flag && choice.when.empty() && std::ranges::find(choice.values, value) != choice.values.end();
  });
  require(chosen, "section [", shown(section), "] is no [FLAG.VALUE] of which a line above all sections has FLAG with ",
          "VALUE among its values");
  return {{flag, value}};
}

Choice read_choice(const ConfigEntry& entry, const std::string& place, const std::vector<Choice>& before) {
  require_flag(entry.key);
  const std::vector<std::string> words = words_in(entry.value);
  require(!words.empty(), Quoted(entry.key), " has no values; write two or more, or LOW..HIGH");
  Choice choice{entry.key, place, condition(entry.section, before), {}, read_range(words)};
  if (choice.range) return choice;
  require(words.size() > 1, Quoted(entry.key), " has one value, which is no choice; give it as a flag");
  require(std::set<std::string>(words.begin(), words.end()).size() == words.size(), Quoted(entry.key),
          " has a value twice");
  choice.values = words;
  return choice;
}

}  // namespace

std::vector<std::string> Choice::examples() const {
  if (!range) return values;
  return {text_of(range->low) + range->unit, text_of(range->high) + range->unit};
}

std::vector<Choice> read_search_space(const std::filesystem::path& path) {
  std::vector<Choice> choices;
  for (const ConfigEntry& entry : read_config_file(path)) {
    if (entry.key.empty()) continue;
    const std::string place = place_of(path, entry);
    try {
      choices.push_back(read_choice(entry, place, choices));
    } catch (const UsageError& error) {
      throw UsageError(place + error.what());
    }
  }
  require(!choices.empty(), Quoted(path.native()), " has nothing to choose: no line FLAG = VALUE VALUE or LOW..HIGH");
  return choices;
}

nlohmann::json choice_facts(const Choice& choice) {
  nlohmann::json facts{{"key", choice.key}, {"when", choice.when}};
  if (!choice.range) {
    facts["values"] = choice.values;
    return facts;
  }
  const ChoiceRange& range = *choice.range;
  facts["range"] = {
      {"low", range.low}, {"high", range.high}, {"unit", range.unit}, {"whole", range.whole}, {"log", range.log}};
  return facts;
}

}  // namespace trigram
