// Finds the parameters that a study calibrates, by coordinate search.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>

#include "experiments/study/compare.hpp"
#include "experiments/study/run_pool.hpp"

namespace trigram {

/// Calibrated values, and where they come from.
struct Calibrated {
  Settings values;                                 ///< key → value; empty where the study calibrates nothing
  bool searched = false;                           ///< by this study now; else its file's [calibrated] says them
  std::optional<double> error;                     ///< of the search: mean absolute relative error of the rows there
  nlohmann::json trail = nlohmann::json::array();  ///< every value that was tried, with its error
};

/// The values of [calibrated], where the file has them and nobody asks to `search` again. A search goes from the middle
/// of each grid: all values of one parameter with the others fixed, the best kept, parameter after parameter, until a
/// whole round changes nothing. Ties go to the value nearest the front of the grid.
Calibrated calibrate(const Study& study, const Published& published, RunPool& pool, bool search);

}  // namespace trigram
