// Runs the points of a study in parallel processes and keeps what is finished.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "experiments/record/run_record.hpp"
#include "experiments/study/study_point.hpp"

namespace trigram {

/// Somebody pressed Ctrl-C, or asked the process to end; what is finished is kept.
struct Interrupted {};

/// A process a run, `jobs` at a time. Every run has a folder FOLDER/runs/ROW-HASH named after its whole configuration:
/// one that holds its whole run.json, made from files that have not changed since, is finished and is read instead of
/// run again.
class RunPool {
 public:
  RunPool(std::filesystem::path folder, int jobs) : folder_(std::move(folder)), jobs_(jobs) {}

  /// Checks the points that are not finished, in processes of their own, since a backend may be made once a process.
  /// Throws UsageError for the first that would be refused, naming file, line and row.
  void check(const std::vector<StudyPoint>& points);

  /// Results in the order of `points`; equal configurations run once. `phase` is what progress calls them. A run.json
  /// that cannot be used is named on standard error, and made again. Throws UsageError as soon as a run refuses its
  /// configuration, Error after the others are done when runs failed, and Interrupted after ending its processes.
  std::vector<StudyResult> run(const std::vector<StudyPoint>& points, const std::string& phase);

 private:
  std::filesystem::path folder_;
  int jobs_;
  FileDigests digests_;
};

}  // namespace trigram
