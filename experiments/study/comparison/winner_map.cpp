// Compares rows place by place.
#include "experiments/study/comparison/winner_map.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "experiments/fit/chances.hpp"
#include "experiments/study/comparison/goal.hpp"
#include "experiments/study/comparison/measured.hpp"
#include "experiments/study/study_files.hpp"

namespace trigram {
namespace {

using MapPoint = std::pair<std::string, std::string>;

/// What a row comes to at a place.
struct Contender {
  std::string row;
  WithErrorBar took;
  std::optional<UncertainTime> drawn;
};

/// How probable it is that one is faster than another, and each the fastest of all: by draws where all have them.
class Contest {
 public:
  explicit Contest(const std::vector<Contender>& all)
      : all_(all), drawn_(std::ranges::all_of(all, [](const Contender& one) { return one.drawn.has_value(); })) {}

  double chance_of_less(const Contender& one, const Contender& other) const {
    return drawn_ ? ::trigram::chance_of_less(*one.drawn, *other.drawn)
                  : ::trigram::chance_of_less(one.took, other.took);
  }

  std::vector<double> chances() const {
    std::vector<WithErrorBar> bars;
    std::vector<const UncertainTime*> draws;
    for (const Contender& one : all_) {
      bars.push_back(one.took);
      if (drawn_) draws.push_back(&*one.drawn);
    }
    return drawn_ ? chances_of_least(draws) : chances_of_least(bars);
  }

 private:
  const std::vector<Contender>& all_;
  bool drawn_;
};

/// The value of a swept key: the point's, or that of the cluster as it is, which run.json has.
std::string value_of(const Axis& axis, const StudyResult& result) {
  const auto swept = result.point.axes.find(axis.key);
  if (swept != result.point.axes.end()) return swept->second;
  const nlohmann::json::json_pointer place("/configuration/cluster/" + axis.key.substr(axis.key.find('.') + 1));
  const bool known = result.run.contains(place) && result.run[place].is_string();
  return known ? result.run[place].get<std::string>() : "";
}

double error_of(const Study& study, const StudyResult& result) {
  const double calibrated = error_bar_of(result);
  return std::isnan(calibrated) ? study.map->error : calibrated;
}

std::size_t order_of(const Study& study, const std::string& row) {
  return static_cast<std::size_t>(std::ranges::find(study.rows, row, &Row::name) - study.rows.begin());
}

Winner winner_of(const Study& study, const MapPoint& place, std::vector<Contender> all) {
  std::ranges::sort(all, {}, [&](const Contender& one) { return order_of(study, one.row); });
  const auto value = [](const Contender& one) { return one.took.value; };
  const Contender& best = *std::ranges::min_element(all, {}, value);
  Winner winner{place.first, place.second, best.row, best.took.value, best.took.error, {}, {}, {}};
  const Contest contest(all);
  for (const Contender& one : all) {
    if (one.row == best.row || contest.chance_of_less(best, one) < called) winner.not_called.push_back(one.row);
    if (one.row == study.map->against) winner.speedup = one.took.value / best.took.value;
  }
  const std::vector<double> chances = contest.chances();
  for (std::size_t i = 0; i < all.size(); ++i) winner.chances.emplace_back(all[i].row, chances[i]);
  return winner;
}

double to_four_digits(double chance) {
  constexpr double digits = 1e4;
  return std::round(digits * chance) / digits;
}

std::string csv_lines(const char* kind, const std::vector<Winner>& all) {
  constexpr int digits = 6;
  std::ostringstream text;
  text.precision(digits);
  for (const Winner& one : all) {
    text << kind << "," << quoted(one.x) << "," << quoted(one.y) << "," << one.best << "," << one.value << ","
         << one.error << "," << to_four_digits(one.chance_of(one.best)) << ",";
    for (const std::string& row : one.not_called) text << (row == one.not_called.front() ? "" : " ") << row;
    text << ",";
    if (one.speedup) text << *one.speedup;
    text << "," << one.advised() << ",";
    for (const auto& [row, chance] : one.chances)
      text << (row == one.chances.front().first ? "" : " ") << to_four_digits(chance);
    text << "\n";
  }
  return text.str();
}

}  // namespace

bool Winner::calls(const std::string& row) const { return std::ranges::find(not_called, row) == not_called.end(); }

double Winner::chance_of(const std::string& row) const {
  const auto found = std::ranges::find(chances, row, [](const auto& one) { return one.first; });
  return found == chances.end() ? 0 : found->second;
}

std::map<std::string, std::vector<double>> steps_of_seeds(const Study& study,
                                                          const std::vector<StudyResult>& learning) {
  std::map<std::string, std::vector<double>> steps;
  for (const StudyResult& result : made(learning)) {
    const auto there = reached(*study.goal, result.run);
    steps[result.point.row].push_back(there ? there->steps : std::numeric_limits<double>::infinity());
  }
  return steps;
}

StepsToGoal steps_to_goal(const Study& study, const std::vector<StudyResult>& learning) {
  StepsToGoal medians;
  for (auto& [row, steps] : steps_of_seeds(study, learning)) {
    std::ranges::sort(steps);
    const double median = (steps[(steps.size() - 1) / 2] + steps[steps.size() / 2]) / 2;
    if (std::isfinite(median)) medians[row] = median;
  }
  return medians;
}

std::vector<Winner> winners(const Study& study, const std::vector<StudyResult>& results,
                            const std::optional<StepsToGoal>& steps, const DrawnTimes& drawn) {
  std::vector<MapPoint> places;
  std::map<MapPoint, std::vector<Contender>> contenders;
  for (const StudyResult& result : results) {
    double factor = 1;
    if (steps) factor = steps->contains(result.point.row) ? steps->at(result.point.row) : std::nan("");
    const double value = factor * measured(study, result);
    const MapPoint place(value_of(study.sweep[0], result), value_of(study.sweep[1], result));
    if (!contenders.contains(place)) places.push_back(place);
    std::vector<Contender>& here = contenders[place];
    if (!std::isfinite(value) || value <= 0) continue;
    here.push_back({result.point.row, {value, error_of(study, result)}, {}});
    if (const auto found = drawn.find(result.folder); found != drawn.end())
      here.back().drawn = times(found->second, factor);
  }
  std::vector<Winner> all;
  for (const MapPoint& place : places) {
    if (!contenders[place].empty()) all.push_back(winner_of(study, place, std::move(contenders[place])));
  }
  return all;
}

std::string winners_csv(const Study& study, const std::vector<StudyResult>& results,
                        const std::optional<StepsToGoal>& steps, const DrawnTimes& drawn) {
  std::string text = "kind," + quoted(study.sweep[0].key) + "," + quoted(study.sweep[1].key) +
                     ",best,value,error,chance,not_called,speedup,advised,chances\n" +
                     csv_lines("iteration", winners(study, results, {}, drawn));
  return steps ? text + csv_lines("goal", winners(study, results, steps, drawn)) : text;
}

nlohmann::json map_facts(const Study& study, const std::vector<StudyResult>& own,
                         const std::optional<StepsToGoal>& steps) {
  nlohmann::json facts = {{"against", study.map->against}, {"error", study.map->error}, {"own", nullptr}};
  for (const StudyResult& result : made(own))
    facts["own"] = {value_of(study.sweep[0], result), value_of(study.sweep[1], result)};
  if (steps) facts["steps"] = *steps;
  return facts;
}

}  // namespace trigram
