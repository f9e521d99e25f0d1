// Error bars in words, and how probable they make each row of a study to be the fastest.
#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "core/values/decimal.hpp"
#include "experiments/fit/chances.hpp"
#include "experiments/measure/median.hpp"
#include "experiments/program/flags/uncertainty.hpp"
#include "experiments/program/tables/tables.hpp"
#include "experiments/study/comparison/measured.hpp"

namespace trigram {
namespace {

/// Runs of one line at one place.
struct Call {
  std::string line;
  std::vector<double> values;
  WithErrorBar middle;  ///< their median, as a time, and the longest of their error bars
};

/// Lines that are compared with each other, since all swept values but the seed are the same.
struct CallsAtPlace {
  std::string place;
  std::vector<Call> calls;  ///< the fastest first
};

constexpr const char* a_rate = "summary.samples_per_s";

bool is_time(const std::string& path) {
  static const std::set<std::string> times{"summary.iteration_s", "summary.iteration_median_s", a_rate};
  return times.contains(path);
}

/// The swept values of a run, but its seed: rows are compared where all of them are the same. Of a study that has one
/// row its lines are, at each value of the first axis.
std::string place_of(const Study& study, const Settings& axes) {
  std::string place;
  for (const Axis& axis : study.sweep) {
    if (axis.key != "seed") place += (place.empty() ? "" : ", ") + axes.at(axis.key);
    if (study.rows.size() == 1) break;
  }
  return place;
}

/// The keys of those values.
std::string keys_of_places(const Study& study) {
  Settings keys;
  for (const Axis& axis : study.sweep) keys[axis.key] = axis.key;
  return place_of(study, keys);
}

/// The one of that name, at the end where it is new.
template <class Named>
Named& named(std::vector<Named>& all, std::string Named::*name, const std::string& wanted) {
  const auto found = std::ranges::find(all, wanted, name);
  if (found != all.end()) return *found;
  all.emplace_back().*name = wanted;
  return all.back();
}

/// By place, in the order of the study.
std::vector<CallsAtPlace> calls_of(const Study& study, const std::vector<StudyResult>& results) {
  std::vector<CallsAtPlace> all;
  for (const StudyPoint& point : main_points(study, {})) named(all, &CallsAtPlace::place, place_of(study, point.axes));
  for (const StudyResult& result : results) {
    const double value = measured(study, result);
    const double error = error_bar_of(result);
    if (!(value > 0) || std::isnan(error)) continue;
    const std::string line = study.rows.size() == 1 ? line_of(study, result.point) : result.point.row;
    CallsAtPlace& here = named(all, &CallsAtPlace::place, place_of(study, result.point.axes));
    Call& call = named(here.calls, &Call::line, line);
    call.values.push_back(study.measure.value == a_rate ? 1 / value : value);
    call.middle.error = std::max(call.middle.error, error);
  }
  for (auto& [place, calls] : all) {
    for (Call& call : calls) call.middle.value = median(call.values);
    std::ranges::stable_sort(calls, {}, [](const Call& call) { return call.middle.value; });
  }
  return all;
}

/// "a 62 %, b 38 %", by their error bars.
std::string chances_of(const std::vector<Call>& calls) {
  std::vector<WithErrorBar> all;
  for (const Call& call : calls) all.push_back(call.middle);
  const std::vector<double> chances = chances_of_least(all);
  std::vector<std::pair<std::string, double>> named;
  for (std::size_t i = 0; i < calls.size(); ++i) named.emplace_back(calls[i].line, chances[i]);
  return chances_text(named);
}

/// A line a place, in two columns.
std::string table_of(const Study& study, const std::vector<CallsAtPlace>& all) {
  std::vector<std::pair<std::string, std::string>> rows = {
      {keys_of_places(study), "the probability of each to be the fastest"}};
  for (const auto& [place, calls] : all) {
    if (calls.size() > 1) rows.emplace_back(place, chances_of(calls));
  }
  if (rows.size() == 1) return "";
  if (study.sweep.empty()) return rows[0].second + ": " + rows.back().second + "\n";
  std::size_t width = 0;
  for (const auto& [place, chances] : rows) width = std::max(width, place.size());
  std::string text;
  for (const auto& [place, chances] : rows) text += place + std::string(width - place.size() + 2, ' ') + chances + "\n";
  return text;
}

}  // namespace

std::string error_bar_text(double error) {
  constexpr double hundred = 100;
  return "\u00b1 " + decimal(hundred * error, 2) + " %";
}

std::string fastest_table(const Study& study, const std::vector<StudyResult>& results) {
  if (!is_time(study.measure.value)) return "";
  double least = 1, most = 0;
  const std::vector<CallsAtPlace> all = calls_of(study, results);
  for (const auto& [place, calls] : all) {
    for (const Call& call : calls) {
      least = std::min(least, call.middle.error);
      most = std::max(most, call.middle.error);
    }
  }
  if (most == 0) return "";
  return "error bar of predictions, from the cluster's calibration: " + error_bar_text(least) +
         (least < most ? " to " + error_bar_text(most) : "") + "\n" + table_of(study, all);
}

}  // namespace trigram
