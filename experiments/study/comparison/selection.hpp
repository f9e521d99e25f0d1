// Chooses a flag for each row on the validation split, and makes the final runs with fresh seeds.
#pragma once

#include <map>
#include <nlohmann/json.hpp>

#include "experiments/study/runs/run_pool.hpp"

namespace trigram {

/// The points of the study's final runs, and what was chosen for them.
struct Selected {
  std::vector<StudyPoint> points;
  nlohmann::json choices = nlohmann::json::array();  ///< row, axes, values with their scores, the one chosen
  std::vector<FailedRun> without;  ///< points none of whose values ended with a score, so that nothing is to be run
};

/// Runs each point with every value of the grid, scored on the validation split, keeps the smallest score (a run
/// that diverged or failed counts as infinite), and returns every point with the chosen value and each fresh seed,
/// scored on the whole objective and the test set. Without a [selection] the points come back as they are.
Selected select(const Study& study, const std::vector<StudyPoint>& points, RunPool& pool);

}  // namespace trigram
