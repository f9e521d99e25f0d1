// Compares rows place by place.
#include "experiments/study/winner_map.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "experiments/study/goal.hpp"
#include "experiments/study/study_files.hpp"

namespace trigram {
namespace {

using MapPoint = std::pair<std::string, std::string>;

/// What a row comes to at a place.
struct Contender {
  std::string row;
  double value = 0;
  double error = 0;
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
  const double calibrated = value_at(result.run, "error_bar.error");
  return std::isnan(calibrated) ? study.map->error : calibrated;
}

std::size_t order_of(const Study& study, const std::string& row) {
  return static_cast<std::size_t>(std::ranges::find(study.rows, row, &Row::name) - study.rows.begin());
}

Winner winner_of(const Study& study, const MapPoint& place, std::vector<Contender> all) {
  std::ranges::sort(all, {}, [&](const Contender& one) { return order_of(study, one.row); });
  const Contender& best = *std::ranges::min_element(all, {}, &Contender::value);
  Winner winner{place.first, place.second, best.row, best.value, best.error, {}, {}};
  for (const Contender& one : all) {
    const double bar = std::max(best.error * best.value, one.error * one.value);
    if (one.row == best.row || one.value - best.value < bar) winner.too_close.push_back(one.row);
    if (one.row == study.map->against) winner.speedup = one.value / best.value;
  }
  return winner;
}

std::string csv_lines(const char* kind, const std::vector<Winner>& all) {
  constexpr int digits = 6;
  std::ostringstream text;
  text.precision(digits);
  for (const Winner& one : all) {
    text << kind << "," << quoted(one.x) << "," << quoted(one.y) << "," << one.best << "," << one.value << ","
         << one.error << ",";
    for (const std::string& row : one.too_close) text << (row == one.too_close.front() ? "" : " ") << row;
    text << ",";
    if (one.speedup) text << *one.speedup;
    text << "," << one.advised() << "\n";
  }
  return text.str();
}

}  // namespace

bool Winner::tells(const std::string& row) const { return std::ranges::find(too_close, row) == too_close.end(); }

StepsToGoal steps_to_goal(const Study& study, const std::vector<StudyResult>& learning) {
  StepsToGoal steps;
  for (const StudyResult& result : learning) {
    if (const std::optional<Reached> there = reached(*study.goal, result.run)) steps[result.point.row] = there->steps;
  }
  return steps;
}

std::vector<Winner> winners(const Study& study, const std::vector<StudyResult>& results,
                            const std::optional<StepsToGoal>& steps) {
  std::vector<MapPoint> places;
  std::map<MapPoint, std::vector<Contender>> contenders;
  for (const StudyResult& result : results) {
    double value = measured(study, result);
    if (steps) value *= steps->contains(result.point.row) ? steps->at(result.point.row) : std::nan("");
    const MapPoint place(value_of(study.sweep[0], result), value_of(study.sweep[1], result));
    if (!contenders.contains(place)) places.push_back(place);
    std::vector<Contender>& here = contenders[place];
    if (std::isfinite(value) && value > 0) here.push_back({result.point.row, value, error_of(study, result)});
  }
  std::vector<Winner> all;
  for (const MapPoint& place : places) {
    if (!contenders[place].empty()) all.push_back(winner_of(study, place, std::move(contenders[place])));
  }
  return all;
}

std::string winners_csv(const Study& study, const std::vector<StudyResult>& results,
                        const std::optional<StepsToGoal>& steps) {
  std::string text = "kind," + quoted(study.sweep[0].key) + "," + quoted(study.sweep[1].key) +
                     ",best,value,error,too_close,speedup,advised\n" +
                     csv_lines("iteration", winners(study, results, {}));
  return steps ? text + csv_lines("goal", winners(study, results, steps)) : text;
}

nlohmann::json map_facts(const Study& study, const std::vector<StudyResult>& own,
                         const std::optional<StepsToGoal>& steps) {
  nlohmann::json facts = {
      {"against", study.map->against}, {"error", own.empty() ? study.map->error : 0.0}, {"own", nullptr}};
  for (const StudyResult& result : own) {
    facts["error"] = std::max(facts["error"].get<double>(), error_of(study, result));
    facts["own"] = {value_of(study.sweep[0], result), value_of(study.sweep[1], result)};
  }
  if (steps) facts["steps"] = *steps;
  return facts;
}

}  // namespace trigram
