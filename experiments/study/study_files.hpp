// The files of a finished study: runs.csv, study.json, table.txt.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "experiments/fit/spread.hpp"
#include "experiments/study/runs/run_pool.hpp"

namespace trigram {

/// As a cell of a CSV file.
std::string quoted(const std::string& text);

/// A row a run that was made: row, series, variant, swept values, folder, the measure, the ends of the range of 68 % of
/// draws by its folder, where there are some, and every number of the summary.
std::string runs_csv(const Study& study, const std::vector<StudyResult>& results,
                     const std::map<std::string, Spread>& ranges = {});

/// What the study is, for plots: title, axes, rows, measure, goal.
nlohmann::json study_facts(const Study& study);

/// Runs that are not there: row, series, variant, axes, phase, folder, message and command of each, and whether it is
/// "missing", where nobody has tried to make it.
nlohmann::json failure_facts(const std::vector<FailedRun>& failed);

}  // namespace trigram
