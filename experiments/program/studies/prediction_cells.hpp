// Predictions taken apart from whoever asks for them: planned as lines, and made from lines.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "experiments/fit/predictions/missing_predictions.hpp"

namespace trigram {

/// Where those of a folder of results are kept.
std::filesystem::path predictions_of(const std::filesystem::path& folder);

/// The file of what is to be made.
std::filesystem::path plan_file(const std::filesystem::path& folder);

/// Writes them as a plan, and says so.
void plan_predictions(const std::filesystem::path& folder, const std::vector<PredictionTask>& tasks);

/// Makes those of these lines that are not there, `jobs` at a time, and prints what each took. Throws what a simulation
/// throws, and UsageError for a line that is none.
void make_predictions(const std::vector<std::string>& lines, const std::filesystem::path& folder, int jobs);

/// The lines of a file, or of standard input ("-"). Throws UsageError for what cannot be read.
std::vector<std::string> lines_of_cells(const std::string& file, const std::string& owner);

}  // namespace trigram
