// Reads the curve of run.json.
#include "experiments/study/comparison/goal.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>

#include "core/values/error.hpp"
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

/// A measure, the expense that a run must have for it (empty: none), what it is called, and how it is found.
struct ToGoal {
  std::string_view name;
  std::string_view expense;
  std::string_view label;
  double (*value)(const Reached& there);
};

double expense(const Reached& there, const char* name) {
  const auto found = there.expenses.find(name);
  return found == there.expenses.end() ? std::nan("") : found->second;
}

constexpr ToGoal all_to_goal[] = {
    {"steps_to_goal", "", "steps", [](const Reached& there) { return there.steps; }},
    {"time_to_goal_s", "", "time (s)", [](const Reached& there) { return there.seconds; }},
    {"bytes_to_goal", "", "bytes sent by a rank", [](const Reached& there) { return there.bytes; }},
    {"energy_J_to_goal", "energy_J", "energy of all ranks (J)",
     [](const Reached& there) { return expense(there, "energy_J"); }},
    {"money_USD_to_goal", "money_USD", "money (USD)",
     [](const Reached& there) { return expense(there, "money_USD"); }}};

/// nullptr where there is none.
const ToGoal* find(const std::string& measure) {
  const auto found = std::ranges::find(all_to_goal, measure, &ToGoal::name);
  return found == std::end(all_to_goal) ? nullptr : found;
}

const ToGoal& named(const std::string& measure) {
  const ToGoal* found = find(measure);
  ensure(found != nullptr, measure, " is no measure of the way to a goal");
  return *found;
}

}  // namespace

bool is_to_goal(const std::string& measure) { return find(measure) != nullptr; }

std::vector<std::string> measures_to_goal(const std::vector<std::string>& expenses) {
  std::vector<std::string> names;
  for (const ToGoal& one : all_to_goal) {
    const bool has = one.expense.empty() || std::ranges::find(expenses, one.expense) != expenses.end();
    if (has) names.emplace_back(one.name);
  }
  return names;
}

std::string label_to_goal(const std::string& measure, const Goal& goal) {
  return std::string(named(measure).label) + " to a loss of " + number_text(goal.loss);
}

double value_to_goal(const std::string& measure, const Goal& goal, const nlohmann::json& run) {
  const auto there = reached(goal, run);
  return there ? named(measure).value(*there) : std::nan("");
}

std::optional<Reached> reached(const Goal& goal, const nlohmann::json& run) {
  if (run.is_null()) return std::nullopt;
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
