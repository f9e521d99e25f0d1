// Error bars in words, and which rows of a study they do not tell apart.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/decimal.hpp"
#include "experiments/measure/median.hpp"
#include "experiments/program/tables.hpp"

namespace trigram {
namespace {

/// Runs of one row at one place.
struct Call {
  std::string line;
  std::vector<double> values;
  double middle = 0;
  double error = 0;
};

bool is_time(const std::string& path) {
  static const std::set<std::string> times{"summary.iteration_s", "summary.iteration_median_s",
                                           "summary.samples_per_s"};
  return times.contains(path);
}

/// The swept values of a run, but its seed: rows are compared where all of them are the same. Of a study that has one
/// row its lines are, at each value of the first axis.
std::string swept_values(const Study& study, const StudyPoint& point) {
  if (study.rows.size() == 1 && !study.sweep.empty()) {
    const std::string& key = study.sweep.front().key;
    return " at " + key + " = " + point.axes.at(key);
  }
  std::string place;
  for (const Axis& axis : study.sweep) {
    if (axis.key == "seed") continue;
    place += (place.empty() ? " at " : ", ") + axis.key + " = " + point.axes.at(axis.key);
  }
  return place;
}

/// By place, each in ascending order.
std::map<std::string, std::vector<Call>> calls_of(const Study& study, const std::vector<StudyResult>& results) {
  std::map<std::string, std::map<std::string, Call>> all;
  for (const StudyResult& result : results) {
    const double value = measured(study, result);
    const double error = value_at(result.run, "error_bar.error");
    if (!(value > 0) || std::isnan(error)) continue;
    const std::string line = study.rows.size() == 1 ? line_of(study, result.point) : result.point.row;
    Call& call = all[swept_values(study, result.point)][line];
    call.line = line;
    call.values.push_back(value);
    call.error = std::max(call.error, error);
  }
  std::map<std::string, std::vector<Call>> sorted;
  for (auto& [where, lines] : all) {
    for (auto& [line, call] : lines) {
      call.middle = median(call.values);
      sorted[where].push_back(std::move(call));
    }
    std::ranges::sort(sorted[where], {}, &Call::middle);
  }
  return sorted;
}

bool too_close(const Call& lower, const Call& upper) {
  return upper.middle - lower.middle < std::max(lower.error * lower.middle, upper.error * upper.middle);
}

}  // namespace

std::string error_bar_text(double error) {
  constexpr double hundred = 100;
  return "\u00b1 " + decimal(hundred * error, 2) + " %";
}

std::string close_calls(const Study& study, const std::vector<StudyResult>& results) {
  if (!is_time(study.measure.value)) return "";
  double least = 1, most = 0;
  std::string lines;
  for (const auto& [where, calls] : calls_of(study, results)) {
    for (std::size_t i = 0; i < calls.size(); ++i) {
      least = std::min(least, calls[i].error);
      most = std::max(most, calls[i].error);
      if (i > 0 && too_close(calls[i - 1], calls[i]))
        lines += "too close to call" + where + ": " + calls[i - 1].line + " and " + calls[i].line + "\n";
    }
  }
  if (most == 0) return "";
  return "error bar of predictions, from the cluster's calibration: " + error_bar_text(least) +
         (least < most ? " to " + error_bar_text(most) : "") + "\n" + lines;
}

}  // namespace trigram
