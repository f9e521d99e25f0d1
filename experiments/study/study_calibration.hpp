// Finds the parameters that a study calibrates, as `trigram calibrate --from` does from a user's own measurements.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>

#include "core/values/error.hpp"
#include "experiments/study/comparison/compare.hpp"
#include "experiments/study/runs/run_pool.hpp"

namespace trigram {

/// Calibrated values, and where they come from.
struct Calibrated {
  Settings values;                 ///< key → value; empty where the study calibrates nothing
  bool searched = false;           ///< by this study now; else its file's [calibrated] says them
  std::optional<double> error;     ///< of the search: mean absolute relative error of the rows there
  std::vector<std::string> words;  ///< of the search: how well each value is known, and which cannot be told apart
};

/// Runs that calibration needs have not been made, and nobody is to make them now.
class MissingRuns : public Error {
 public:
  using Error::Error;
};

/// The values of [calibrated], where the file has them and nobody asks to `search` again. Else those between the ends
/// of each grid at which logarithms of the calibrated rows and of their published points differ least in squares, each
/// moved to the grid's nearest value. Throws UsageError for a grid of what are no numbers, and where no published point
/// meets a run, and
/// MissingRuns.
Calibrated calibrate(const Study& study, const Published& published, RunPool& pool, bool search);

}  // namespace trigram
