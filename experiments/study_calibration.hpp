// Finds the parameters that a study calibrates, by coordinate search.
#pragma once

#include <nlohmann/json.hpp>

#include "experiments/compare.hpp"
#include "experiments/run_pool.hpp"

namespace trigram {

/// What calibration found.
struct Calibrated {
  Settings values;                                 ///< key → value; empty where the study calibrates nothing
  double error = 0;                                ///< mean absolute relative error of the calibrated rows there
  nlohmann::json trail = nlohmann::json::array();  ///< every value that was tried, with its error
};

/// From the middle of each grid: all values of one parameter with the others fixed, the best kept, parameter after
/// parameter, until a whole round changes nothing. Ties go to the value nearest the front of the grid.
Calibrated calibrate(const Study& study, const Published& published, RunPool& pool);

}  // namespace trigram
