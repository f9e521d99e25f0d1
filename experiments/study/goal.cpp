// Reads the curve of run.json.
#include "experiments/study/goal.hpp"

#include <algorithm>
#include <cmath>

#include "experiments/record/expenses.hpp"

namespace trigram {
namespace {

Reached reached_at(const nlohmann::json& point) {
  // What another program wrote may know the step alone.
  const nlohmann::json& steps = point.contains("steps_mean") ? point["steps_mean"] : point["step"];
  Reached there{steps, point["time_s"], point["bytes_mean"]};
  for (const char* name : expense_names) {
    if (point.contains(name)) there.expenses[name] = point[name];
  }
  return there;
}

}  // namespace

std::optional<Reached> reached(const Goal& goal, const nlohmann::json& run) {
  for (const nlohmann::json& point : run.at("curve")) {
    if (point["loss"].is_number() && point["loss"] <= goal.loss) return reached_at(point);
  }
  return std::nullopt;
}

std::vector<std::string> expenses_in(const std::vector<StudyResult>& results) {
  std::vector<std::string> names;
  std::ranges::copy_if(expense_names, std::back_inserter(names), [&](const std::string& name) {
    return std::ranges::any_of(
        results, [&](const StudyResult& result) { return !std::isnan(value_at(result.run, "summary." + name)); });
  });
  return names;
}

}  // namespace trigram
