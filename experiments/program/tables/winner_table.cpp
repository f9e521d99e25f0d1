// A winner map in words: who is fastest where, and what the cluster should use.
#include <algorithm>
#include <cmath>
#include <functional>

#include "core/values/decimal.hpp"
#include "experiments/fit/chances.hpp"
#include "experiments/program/tables/tables.hpp"

namespace trigram {
namespace {

/// Three digits, as speed-ups need.
std::string times(double factor) {
  constexpr int digits = 3;
  return decimal(factor, digits);
}

std::string share_text(double chance) {
  constexpr double hundred = 100;
  return std::to_string(std::lround(hundred * chance)) + " %";
}

/// "choco_sgd 3.2x 71 %", with a star where `against` may be as fast.
std::string cell(const Study& study, const Winner& one) {
  return one.best + (one.speedup ? " " + times(*one.speedup) + "x" : "") + " " + share_text(one.chance_of(one.best)) +
         (one.calls(study.map->against) ? "" : " *");
}

/// Places in rows of the first key and columns of the second, which has fewer values as a rule.
std::string grid(const Study& study, const std::string& head, const std::vector<Winner>& all) {
  std::vector<std::vector<std::string>> rows = {{head}};
  for (const std::string& y : study.sweep[1].values) rows[0].push_back(y);
  for (const std::string& x : study.sweep[0].values) {
    rows.push_back({x});
    for (const std::string& y : study.sweep[1].values) {
      const auto found = std::ranges::find_if(all, [&](const Winner& one) { return one.x == x && one.y == y; });
      rows.back().push_back(found == all.end() ? "-" : cell(study, *found));
    }
  }
  return aligned(rows);
}

/// "top_k_sgd 71 %, dgc 20 % and 3 more": the most probable first.
std::string chances_text(const Winner& one) {
  constexpr std::size_t most = 5;
  std::vector<std::pair<std::string, double>> chances = one.chances;
  std::ranges::stable_sort(chances, std::greater<>(), [](const auto& each) { return each.second; });
  std::erase_if(chances, [](const auto& each) { return each.second < 0.01; });
  std::string text;
  for (std::size_t i = 0; i < std::min(most, chances.size()); ++i)
    text += (i == 0 ? "" : ", ") + chances[i].first + " " + share_text(chances[i].second);
  const std::size_t left = chances.size() - std::min(most, chances.size());
  return text + (left > 0 ? " and " + std::to_string(left) + " more" : "");
}

std::string sentence(const Study& study, const Winner& one, const std::string& what, bool steps) {
  std::string text = "on this network";
  if (!one.x.empty() && !one.y.empty())
    text += " (" + study.sweep[0].key + " " + one.x + ", " + study.sweep[1].key + " " + one.y + ")";
  text += " use " + one.advised() + " " + what + ": the fastest is " + one.best + ", " + study.measure.label +
          (steps ? " x its steps " : " ") + short_number(one.value);
  if (one.speedup) text += ", " + times(*one.speedup) + " times as fast as " + study.map->against;
  return text + "; probably the fastest (" + error_bar_text(one.error) + "): " + chances_text(one) + "\n";
}

std::string both(const Study& study, const std::vector<StudyResult>& main, const std::vector<StudyResult>& own,
                 const std::optional<StepsToGoal>& steps, const DrawnTimes& drawn) {
  const std::string what = steps ? "to a loss of " + short_number(study.goal->loss) : "for short iterations";
  std::string text =
      (steps ? "time to a loss of " + short_number(study.goal->loss) : std::string("time an iteration")) +
      ": the fastest, how many times as fast as " + study.map->against + ", and the probability that it is; * where " +
      study.map->against + " is slower with less than " + share_text(called) + "\n" +
      grid(study, study.sweep[0].key, winners(study, main, steps, drawn));
  for (const Winner& here : winners(study, own, steps, drawn)) text += sentence(study, here, what, steps.has_value());
  return text;
}

std::string steps_text(double steps) { return std::isfinite(steps) ? short_number(steps) : "never"; }

/// "22", "22 (20 to 24)" of several seeds, or "-" of no run.
std::string median_and_range(const StepsToGoal& medians, const std::string& row, const std::vector<double>& steps) {
  if (steps.empty()) return "-";
  const auto median = medians.find(row);
  const std::string text = median == medians.end() ? "never" : short_number(median->second);
  if (steps.size() == 1) return text;
  const auto [least, most] = std::ranges::minmax(steps);
  return text + " (" + steps_text(least) + (least == most ? "" : " to " + steps_text(most)) + ")";
}

/// What each row's learning runs needed.
std::string learning_lines(const Study& study, const std::vector<StudyResult>& learning) {
  const std::size_t seeds = study.learning->seeds.size();
  std::string text = "\nsteps to a loss of " + short_number(study.goal->loss) + ", from ";
  text += seeds < 2 ? "one run each:" : std::to_string(seeds) + " runs each, median and range:";
  const StepsToGoal medians = steps_to_goal(study, learning);
  std::map<std::string, std::vector<double>> steps = steps_of_seeds(study, learning);
  for (const Row& row : study.rows)
    text += (&row == &study.rows.front() ? " " : ", ") + row.name + " " +
            median_and_range(medians, row.name, steps[row.name]);
  return text + "\n";
}

}  // namespace

std::string winner_table(const Study& study, const std::vector<StudyResult>& main, const std::vector<StudyResult>& own,
                         const std::vector<StudyResult>& learning, const DrawnTimes& drawn) {
  std::string text = both(study, main, own, {}, drawn);
  if (!study.learning) return text + "an iteration says nothing of how much is learned in it\n";
  return text + "\n" + both(study, main, own, steps_to_goal(study, learning), drawn) + learning_lines(study, learning);
}

}  // namespace trigram
