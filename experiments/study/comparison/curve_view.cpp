#include "experiments/study/comparison/curve_view.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/registry/spelling.hpp"
#include "core/values/error.hpp"
#include "core/values/quoted.hpp"
#include "core/values/units.hpp"
#include "experiments/settings/grid.hpp"

namespace trigram {
namespace {

/// What curves are drawn against, or show, and the unit of its range; none: a bare number.
struct Quantity {
  const char* name;
  bool is_score;
  std::optional<Unit> unit;
};

const Quantity quantities[] = {{"step", false, {}},    {"time", false, Unit::seconds}, {"bytes", false, Unit::bytes},
                               {"energy", false, {}},  {"money", false, {}},           {"loss", true, {}},
                               {"accuracy", true, {}}, {"worst_accuracy", true, {}}};

/// Apart by commas or blanks.
std::vector<std::string> listed(std::string text) {
  std::ranges::replace(text, ',', ' ');
  return words_in(text);
}

template <class Kept>
std::vector<std::string> names_that(const Kept& kept) {
  std::vector<std::string> names;
  for (const Quantity& one : quantities) {
    if (kept(one)) names.emplace_back(one.name);
  }
  return names;
}

void require_known(const std::string& word, const std::vector<std::string>& known, const char* what) {
  if (std::ranges::find(known, word) != known.end()) return;
  std::string all;
  for (const std::string& one : known) all += " " + one;
  throw UsageError(in_quotes(word) + " is nothing that " + what + did_you_mean(word, known) + "; there are:" + all);
}

std::vector<std::string> known_words(const std::string& text, const std::vector<std::string>& known, const char* what) {
  std::vector<std::string> words = listed(text);
  for (const std::string& word : words) {
    require_known(word, known, what);
    require(std::ranges::count(words, word) == 1, Quoted(word), " is given twice");
  }
  return words;
}

double bound(const std::string& text, const Quantity& of) {
  return of.unit ? parse_quantity(text, *of.unit) : parse_number(text);
}

}  // namespace

void set_against(CurveView& view, const std::string& text) {
  view.against =
      known_words(text, names_that([](const Quantity& one) { return !one.is_score; }), "curves are drawn against");
}

void set_scores(CurveView& view, const std::string& text) {
  view.scores = known_words(text, names_that([](const Quantity& one) { return one.is_score; }), "curves show");
}

void set_x_axis(CurveView& view, const std::string& text) {
  require(text.empty() || text == "linear" || text == "log", Quoted(text), " is neither linear nor log");
  view.x_axis = text;
}

void set_ranges(CurveView& view, const std::string& text) {
  view.ranges.clear();
  for (const std::string& word : listed(text)) {
    const std::size_t equals = word.find('='), colon = word.find(':');
    require(equals != std::string::npos && colon != std::string::npos && equals < colon, Quoted(word),
            " is no range; write NAME=LOW:HIGH, as time=0s:60s or loss=0.1:3");
    const std::string name = word.substr(0, equals);
    require_known(name, names_that([](const Quantity&) { return true; }), "curves have a range of");
    const Quantity& of = *std::ranges::find_if(quantities, [&](const Quantity& one) { return one.name == name; });
    const CurveView::Range range{bound(word.substr(equals + 1, colon - equals - 1), of),
                                 bound(word.substr(colon + 1), of)};
    require(range.low < range.high, Quoted(word), " is no range: its first value is to be less than its second");
    require(view.ranges.emplace(name, range).second, Quoted(name), " has two ranges");
  }
}

nlohmann::json curve_facts(const CurveView& view) {
  nlohmann::json facts = nlohmann::json::object();
  if (!view.against.empty()) facts["against"] = view.against;
  if (!view.scores.empty()) facts["scores"] = view.scores;
  if (!view.x_axis.empty()) facts["x_axis"] = view.x_axis;
  for (const auto& [name, range] : view.ranges) facts["ranges"][name] = {range.low, range.high};
  return facts;
}

}  // namespace trigram
