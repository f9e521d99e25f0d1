// Runs one configuration and leaves its result files in its folder.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>

#include "experiments/run_config.hpp"

namespace trigram {

/// Checks everything that can be checked before ranks start: products, sizes, data, and that the folder is writable.
/// Throws UsageError.
void check_run(const RunConfig& config);

/// Trains and writes steps.csv, evals.csv, trace.json if asked, and run.json last: a folder with a run.json is
/// complete. Returns what run.json holds; nothing where another process of the job writes it.
std::optional<nlohmann::json> record_run(const RunConfig& config);

/// The paths of run.json's summary that can hold a number: "summary.iteration_s", "summary.breakdown.wire_s", ...
std::vector<std::string> measurable();

}  // namespace trigram
