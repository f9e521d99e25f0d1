// Tables of measures and of the way to a goal.
#include "experiments/program/tables/tables.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "core/values/decimal.hpp"
#include "experiments/measure/median.hpp"
#include "experiments/study/comparison/goal.hpp"
#include "experiments/study/comparison/measured.hpp"

namespace trigram {
namespace {

using Cells = std::vector<std::vector<std::string>>;

/// A run that diverged has no number: it counts as greater than all others.
std::vector<double> without_nan(std::vector<double> values) {
  constexpr double greatest = std::numeric_limits<double>::infinity();
  std::ranges::replace_if(
      values, [](double value) { return std::isnan(value); }, greatest);
  return values;
}

/// NaN without runs.
double median_of_runs(const std::vector<double>& values) {
  return values.empty() ? std::nan("") : median(without_nan(values));
}

/// "2 [1, 3]"; "2 [1, -]" where a run has no number; one value where all are the same.
std::string median_and_range(const std::vector<double>& values) {
  if (values.empty()) return "-";
  const std::vector<double> numbers = without_nan(values);
  const auto [least, greatest] = std::ranges::minmax(numbers);
  const std::string middle = short_number(median(numbers)), low = short_number(least), high = short_number(greatest);
  return low == high ? middle : middle + " [" + low + ", " + high + "]";
}

/// The measure of the runs of one place; those that failed are counted.
std::string measure_cell(const Study& study, const std::vector<const StudyResult*>& results) {
  std::vector<double> values;
  for (const StudyResult* result : results) {
    if (result->failure.empty()) values.push_back(measured(study, *result));
  }
  const std::size_t lost = results.size() - values.size();
  if (lost == 0) return median_and_range(values);
  const auto missing = static_cast<std::size_t>(std::ranges::count_if(results, &StudyResult::missing));
  const std::string words = missing == 0 ? "failed" : missing == lost ? "missing" : "failed or missing";
  if (values.empty()) return words;
  return median_and_range(values) + ", " + std::to_string(lost) + " of " + std::to_string(results.size()) + " " + words;
}

/// The results of a line by the value of the first axis ("" without one).
using ByAxis = std::map<std::string, std::vector<const StudyResult*>>;

std::string first_axis_value(const Study& study, const StudyResult& result) {
  return study.sweep.empty() ? "" : result.point.axes.at(study.sweep.front().key);
}

ByAxis results_of(const Study& study, const std::string& line, const std::vector<StudyResult>& results) {
  ByAxis by_axis;
  for (const StudyResult& result : results) {
    if (line_of(study, result.point) == line) by_axis[first_axis_value(study, result)].push_back(&result);
  }
  return by_axis;
}

std::vector<std::string> axis_values(const Study& study) {
  return study.sweep.empty() ? std::vector<std::string>{""} : study.sweep.front().values;
}

}  // namespace

std::string short_number(double value) {
  constexpr int digits = 4;
  return std::isfinite(value) ? decimal(value, digits) : "-";
}

std::string aligned(const Cells& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (std::size_t line = 0; line < rows.size(); ++line) {
    for (std::size_t i = 0; i < rows[line].size(); ++i) {
      const std::string pad(widths[i] - rows[line][i].size(), ' ');
      text += i == 0 ? rows[line][i] + pad : "  " + pad + rows[line][i];
    }
    text += "\n";
    std::size_t width = 0;
    for (const std::size_t one : widths) width += one + 2;
    if (line == 0) text += std::string(width - 2, '-') + "\n";
  }
  return text;
}

std::string measure_table(const Study& study, const std::vector<StudyResult>& results) {
  Cells rows = {{study.measure.label}};
  for (const std::string& value : axis_values(study)) rows[0].push_back(value.empty() ? "median" : value);
  for (const std::string& line : lines_of(study)) {
    ByAxis by_axis = results_of(study, line, results);
    rows.push_back({line});
    for (const std::string& value : axis_values(study)) rows.back().push_back(measure_cell(study, by_axis[value]));
  }
  return aligned(rows);
}

std::string goal_table(const Study& study, const std::vector<StudyResult>& results) {
  const std::string axis = study.sweep.empty() ? "" : study.sweep.front().key;
  const std::vector<std::string> expenses = expenses_in(results);
  Cells rows = {{"loss <= " + short_number(study.goal->loss), axis, "runs", "never", "steps: median [range]",
                 "time (s): median [range]", "MB a rank: median [range]", "final loss", "final accuracy",
                 "of the worst rank"}};
  for (const std::string& name : expenses) rows[0].push_back(name + ": median [range]");
  const bool any_failed = std::ranges::any_of(results, [](const StudyResult& one) { return !one.failure.empty(); });
  if (any_failed) rows[0].emplace_back("failed");
  constexpr double megabyte = 1e6;
  for (const std::string& line : lines_of(study)) {
    ByAxis by_axis = results_of(study, line, results);
    for (const std::string& value : axis_values(study)) {
      std::vector<double> steps, seconds, bytes, losses, accuracies, worst;
      std::map<std::string, std::vector<double>> spent;
      for (const StudyResult* result : by_axis[value]) {
        if (!result->failure.empty()) continue;
        losses.push_back(value_at(result->run, "summary.loss"));
        accuracies.push_back(value_at(result->run, "summary.accuracy"));
        worst.push_back(value_at(result->run, "summary.worst_accuracy"));
        const auto there = reached(*study.goal, result->run);
        if (!there) continue;
        steps.push_back(there->steps);
        seconds.push_back(there->seconds);
        bytes.push_back(there->bytes / megabyte);
        for (const auto& [name, amount] : there->expenses) spent[name].push_back(amount);
      }
      rows.push_back({line, value, std::to_string(losses.size()), std::to_string(losses.size() - seconds.size()),
                      median_and_range(steps), median_and_range(seconds), median_and_range(bytes),
                      short_number(median_of_runs(losses)), short_number(median_of_runs(accuracies)),
                      short_number(median_of_runs(worst))});
      for (const std::string& name : expenses) rows.back().push_back(median_and_range(spent[name]));
      if (any_failed) rows.back().push_back(std::to_string(by_axis[value].size() - losses.size()));
    }
  }
  return aligned(rows);
}

}  // namespace trigram
