// When a run reaches the loss that its study asks for.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "experiments/study/study_point.hpp"

namespace trigram {

/// The first evaluation at or below the goal's loss.
struct Reached {
  double steps = 0;  ///< that ranks had made, mean over those that train: asynchronous ones are at different steps
  double seconds = 0;
  double bytes = 0;                             ///< sent by a rank on average until then
  std::map<std::string, double> expenses = {};  ///< of all ranks until then, where the cluster has rates: "energy_J"
};

/// nullopt for a run that never gets there, and for one that failed.
std::optional<Reached> reached(const Goal& goal, const nlohmann::json& run);

/// Whether [measure] may name it in a study that has a goal: "time_to_goal_s", a column of runs.csv.
bool is_to_goal(const std::string& measure);

/// Such measures in the order of their columns: those of every run, and those of these expenses.
std::vector<std::string> measures_to_goal(const std::vector<std::string>& expenses);

/// "time (s) to a loss of 0.5".
std::string label_to_goal(const std::string& measure, const Goal& goal);

/// That measure of a run; NaN for a run that never gets there, or that has no such expense.
double value_to_goal(const std::string& measure, const Goal& goal, const nlohmann::json& run);

/// The expenses that some of these runs have: "energy_J", "money_USD".
std::vector<std::string> expenses_in(const std::vector<StudyResult>& results);

}  // namespace trigram
