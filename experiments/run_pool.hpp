// Runs the points of a study in parallel processes and keeps what is finished.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "experiments/study_point.hpp"

namespace trigram {

/// Somebody pressed Ctrl-C, or asked the process to end; what is finished is kept.
struct Interrupted {};

/// A process a run, `jobs` at a time. Every run has a folder FOLDER/runs/ROW-HASH named after its whole configuration:
/// one that holds a run.json is finished and is read instead of run again.
class RunPool {
 public:
  RunPool(std::filesystem::path folder, int jobs) : folder_(std::move(folder)), jobs_(jobs) {}

  /// Results in the order of `points`; equal configurations run once. `phase` is what progress calls them. Throws
  /// UsageError as soon as a run refuses its configuration, Error after the others are done when runs failed, and
  /// Interrupted after ending its processes.
  std::vector<StudyResult> run(const std::vector<StudyPoint>& points, const std::string& phase);

 private:
  std::filesystem::path folder_;
  int jobs_;
};

}  // namespace trigram
