// The run that a point of a study stands for.
#pragma once

#include <filesystem>
#include <string>

#include "experiments/settings/run_config.hpp"
#include "experiments/study/runs/run_task.hpp"
#include "experiments/study/study_point.hpp"

namespace trigram {

/// A point with its configuration and its place in the study's folder.
struct StudyRun {
  /// Throws UsageError naming file, line and row.
  StudyRun(const std::filesystem::path& study, const StudyPoint& point);

  RunConfig config;      ///< writes into its folder of the study
  std::string identity;  ///< of this configuration, made by this program: another build may have other results
  std::string name;      ///< "runs/ROW-HASH"
};

/// As whoever makes runs takes it.
RunTask task_of(StudyRun run, const StudyPoint& point);

/// The command that makes a point's run alone, as a shell takes it: "trigram run --algorithm bytegrad ...".
std::string command_of(const StudyPoint& point);

}  // namespace trigram
