// Error bars in words, and which rows of a study they do not tell apart.
#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "core/decimal.hpp"
#include "experiments/measure/median.hpp"
#include "experiments/program/tables.hpp"
#include "experiments/study/measured.hpp"

namespace trigram {
namespace {

/// Runs of one line at one place.
struct Call {
  std::string line;
  std::vector<double> values;
  WithErrorBar middle;  ///< their median, and the longest of their error bars
};

/// Lines that are compared with each other, since all swept values but the seed are the same.
struct CallsAtPlace {
  std::string place;
  std::vector<Call> calls;  ///< in ascending order
};

bool is_time(const std::string& path) {
  static const std::set<std::string> times{"summary.iteration_s", "summary.iteration_median_s",
                                           "summary.samples_per_s"};
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
    call.values.push_back(value);
    call.middle.error = std::max(call.middle.error, error);
  }
  for (auto& [place, calls] : all) {
    for (Call& call : calls) call.middle.value = median(call.values);
    std::ranges::stable_sort(calls, {}, [](const Call& call) { return call.middle.value; });
  }
  return all;
}

/// "a, b, c; d, e": neighbours that are not told apart; empty where all are.
std::string groups_of(const std::vector<Call>& calls) {
  std::string text;
  bool open = false;
  for (std::size_t i = 1; i < calls.size(); ++i) {
    const bool near = too_close(calls[i - 1].middle, calls[i].middle);
    if (near) text += (open ? "" : (text.empty() ? "" : "; ") + calls[i - 1].line) + ", " + calls[i].line;
    open = near;
  }
  return text;
}

/// A line a place, in two columns.
std::string table_of(const Study& study, const std::vector<CallsAtPlace>& all) {
  std::vector<std::pair<std::string, std::string>> rows = {
      {keys_of_places(study), "too close to call: each and the next, from the least on"}};
  for (const auto& [place, calls] : all) {
    if (const std::string groups = groups_of(calls); !groups.empty()) rows.emplace_back(place, groups);
  }
  if (rows.size() == 1) return "";
  if (study.sweep.empty()) return "too close to call: " + rows.back().second + "\n";
  std::size_t width = 0;
  for (const auto& [place, groups] : rows) width = std::max(width, place.size());
  std::string text;
  for (const auto& [place, groups] : rows) text += place + std::string(width - place.size() + 2, ' ') + groups + "\n";
  return text;
}

}  // namespace

std::string error_bar_text(double error) {
  constexpr double hundred = 100;
  return "\u00b1 " + decimal(hundred * error, 2) + " %";
}

std::string close_calls(const Study& study, const std::vector<StudyResult>& results) {
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
