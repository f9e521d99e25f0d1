// What a study prints: measures, errors against published points, and the way to its goal.
#pragma once

#include <string>
#include <vector>

#include "experiments/study/comparison/compare.hpp"
#include "experiments/study/comparison/winner_map.hpp"
#include "experiments/study/runs/run_pool.hpp"
#include "experiments/study/study_point.hpp"

namespace trigram {

/// Rows of text in aligned columns, the first row underlined.
std::string aligned(const std::vector<std::vector<std::string>>& rows);

/// A number in few digits; "-" for NaN.
std::string short_number(double value);

/// "± 9 %".
std::string error_bar_text(double error);

/// The measure of every line, a column a value of the first axis: medians over seeds with their range, and how many
/// runs failed.
std::string measure_table(const Study& study, const std::vector<StudyResult>& results);

/// How probable the error bars of predictions make each row to be the fastest, a line a combination of swept values in
/// the order of the study; empty where no cluster is calibrated, or the measure is no time of an iteration.
std::string fastest_table(const Study& study, const std::vector<StudyResult>& results);

/// Which row to use at every place of a map and on the cluster's own network, for an iteration and, in a study with
/// learning runs, to the goal.
std::string winner_table(const Study& study, const std::vector<StudyResult>& main, const std::vector<StudyResult>& own,
                         const std::vector<StudyResult>& learning, const DrawnTimes& drawn);

/// Errors by series inside and outside the aim, calibrated and predicted apart, with orders and variants.
std::string error_table(const Study& study, const std::vector<Comparison>& main,
                        const std::vector<Comparison>& variants);

/// Errors against measurements by source and method, order of pairs, decisions, and the same for every variant.
std::string agreement_table(const Study& study, const std::vector<StudyResult>& results);

/// Median and range of time and bytes to the goal by line, and the runs that never reach it, or failed.
std::string goal_table(const Study& study, const std::vector<StudyResult>& results);

/// The first of the runs that failed, of `all` that there are, for a message.
std::string first_failure(const std::vector<FailedRun>& failed, std::size_t all);

/// The runs that failed, what each said, and the command that makes it alone; empty where none did.
std::string failure_lines(const std::vector<FailedRun>& failed, std::size_t all);

}  // namespace trigram
