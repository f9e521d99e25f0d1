// Runs one configuration and leaves its result files in its folder.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "experiments/record/resume/stopped_run.hpp"
#include "experiments/settings/run_config.hpp"

namespace trigram {

/// Checks everything that can be checked before ranks start: products, sizes, data. Throws UsageError.
void check_run(const RunConfig& config);

/// Trains and writes steps.csv, evals.csv, trace.json if asked, and run.json last: a folder with a run.json is
/// complete. What an earlier run left is replaced only then. A folder that was made for a run that fails is removed.
/// `identity` stands in run.json, for read_run. Returns what run.json holds; nothing where another process of the job
/// writes it.
/// With `tell`, Ctrl-C and a request to end are noted while ranks train, and a run that ends early, by that or by an
/// error, leaves what it has done (write_stopped_run) and says so before its error is thrown.
std::optional<nlohmann::json> record_run(const RunConfig& config, const std::string& identity = "",
                                         const TellRemains& tell = {});

/// A run.json that was read, or why it is not to be used.
struct RecordedRun {
  nlohmann::json run;   ///< null where it is not to be used
  std::string problem;  ///< "it is empty"; empty where there is no such file, too
};

/// Digests of files by path, each made once.
using FileDigests = std::map<std::string, std::string>;

/// Reads FOLDER/run.json: whole, of the run of that `identity`, and made from files that are still as they were.
RecordedRun read_run(const std::filesystem::path& folder, const std::string& identity, FileDigests& digests);

/// The paths of run.json that can hold a number: "summary.iteration_s", "membership.goodput", ...
std::vector<std::string> measurable();

}  // namespace trigram
