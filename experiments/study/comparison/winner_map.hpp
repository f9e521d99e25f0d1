// Which row is fastest where, and what a cluster should use.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "experiments/fit/uncertain_times.hpp"
#include "experiments/study/study_point.hpp"

namespace trigram {

/// Steps of each row's learning runs until the goal, infinite for a run that never reaches it.
std::map<std::string, std::vector<double>> steps_of_seeds(const Study& study, const std::vector<StudyResult>& learning);

/// Their median by row; rows of which at least half of the runs never reach the goal are not there.
using StepsToGoal = std::map<std::string, double>;
StepsToGoal steps_to_goal(const Study& study, const std::vector<StudyResult>& learning);

/// Draws of runs by their folders; empty: none were drawn.
using DrawnTimes = std::map<std::string, UncertainTime>;

/// The rows at one place: at swept values, or on the cluster as it is.
struct Winner {
  std::string x, y;  ///< values of the first and of the second swept key
  std::string best;  ///< the row of the least measure
  double value = 0;  ///< its measure, times its steps where they count
  double error = 0;  ///< its error bar, a share
  /// Of each row the probability that it is the fastest, as the study orders them: by the draws of all where there are
  /// such, in each of which all are at the same point, else by their error bars.
  std::vector<std::pair<std::string, double>> chances;
  /// Rows that it is faster than with a probability below `called`, with it, as the study orders them.
  std::vector<std::string> not_called;
  std::optional<double> speedup;  ///< the measure of `against` over that of `best`; none where `against` has none

  /// What to use: of the rows of `not_called`, the one that stands first in the study.
  const std::string& advised() const { return not_called.front(); }
  bool calls(const std::string& row) const;
  /// The probability that `row` is the fastest; 0 for one that takes no part.
  double chance_of(const std::string& row) const;
};

/// By place, in the order of `results`, which are those of one kind: main ones or those on the cluster's own network.
/// With `steps`, measures are multiplied by them, and rows without steps take no part. Places without rows are left
/// out.
std::vector<Winner> winners(const Study& study, const std::vector<StudyResult>& results,
                            const std::optional<StepsToGoal>& steps, const DrawnTimes& drawn);

/// A row a place: x, y, best, value, error, chance (that it is the fastest), not_called, speedup, advised, and what all
/// rows' chances are, once for an iteration and once to the goal.
std::string winners_csv(const Study& study, const std::vector<StudyResult>& results,
                        const std::optional<StepsToGoal>& steps, const DrawnTimes& drawn);

/// What a picture needs beside runs.csv: the row compared with, the error bar of runs that have none, the cluster's own
/// values and steps to the goal.
nlohmann::json map_facts(const Study& study, const std::vector<StudyResult>& own,
                         const std::optional<StepsToGoal>& steps);

}  // namespace trigram
