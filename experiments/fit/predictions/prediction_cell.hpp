// A prediction as a line of a plan, which any machine with the same program can make.
#pragma once

#include <string>

#include "experiments/fit/predictions/missing_predictions.hpp"

namespace trigram {

/// A JSON object: its name ("prediction-IDENTITY"), the digest of the program, the row that it is of, and what makes
/// it.
std::string prediction_line(const PredictionTask& task);

/// Whether a line is such a one; others are cells of runs.
bool is_prediction(const std::string& line);

/// Throws UsageError for a line of another build of the program, and for one that is not whole.
PredictionTask read_prediction(const std::string& line);

/// "{"cell":…,"row":…,"like":…,"seconds":…,"memory":…}", a line: what it took.
std::string prediction_cost(const PredictionTask& task, double seconds);

}  // namespace trigram
