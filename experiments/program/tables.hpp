// What a study prints: measures, errors against published points, and the way to its goal.
#pragma once

#include <string>
#include <vector>

#include "experiments/study/compare.hpp"
#include "experiments/study/study_point.hpp"
#include "experiments/study/winner_map.hpp"

namespace trigram {

/// Rows of text in aligned columns, the first row underlined.
std::string aligned(const std::vector<std::vector<std::string>>& rows);

/// A number in few digits; "-" for NaN.
std::string short_number(double value);

/// "± 9 %".
std::string error_bar_text(double error);

/// The measure of every line, a column a value of the first axis (medians over seeds).
std::string measure_table(const Study& study, const std::vector<StudyResult>& results);

/// Which rows are nearer to each other, at the same swept values, than the error bar of their predictions;
/// empty where no cluster is calibrated, or the measure is no time.
std::string close_calls(const Study& study, const std::vector<StudyResult>& results);

/// Which row to use at every place of a map and on the cluster's own network, for an iteration and, with `steps`, to
/// the goal.
std::string winner_table(const Study& study, const std::vector<StudyResult>& main, const std::vector<StudyResult>& own,
                         const std::optional<StepsToGoal>& steps);

/// Errors by series inside and outside the aim, calibrated and predicted apart, with orders and variants.
std::string error_table(const Study& study, const std::vector<Comparison>& main,
                        const std::vector<Comparison>& variants);

/// Errors against measurements by source and method, order of pairs, decisions, and the same for every variant.
std::string agreement_table(const Study& study, const std::vector<StudyResult>& results);

/// Median and range of time and bytes to the goal by line, and the runs that never reach it.
std::string goal_table(const Study& study, const std::vector<StudyResult>& results);

}  // namespace trigram
