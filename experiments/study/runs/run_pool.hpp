// The runs of a study: those that are finished are read, the others made.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "experiments/record/run_record.hpp"
#include "experiments/study/runs/run_task.hpp"
#include "experiments/study/study_point.hpp"

namespace trigram {

/// A run that a study could not make.
struct FailedRun {
  StudyPoint point;      ///< the first that asked for it
  std::string phase;     ///< what it was made for: RunPool::main_phase, "learning runs"
  std::string folder;    ///< under the study's own, with its log.txt; empty where nothing was run
  std::string message;   ///< what it said
  std::string command;   ///< makes it alone; empty where nothing was run
  bool missing = false;  ///< nobody has tried to make it
};

/// Every run has a folder FOLDER/runs/ROW-HASH named after its whole configuration:
/// one that holds its whole run.json, made from files that have not changed since, is finished and is read instead of
/// run again.
class RunPool {
 public:
  /// `maker`, which must outlive it, makes what is not finished.
  RunPool(std::filesystem::path folder, RunMaker& maker) : folder_(std::move(folder)), maker_(maker) {}

  /// Checks the points that are not finished, in `jobs` processes of their own, since a backend may be made once a
  /// process. Throws UsageError for the first that would be refused, naming file, line and row.
  void check(const std::vector<StudyPoint>& points, int jobs);

  /// What progress calls the runs that tables and pictures show.
  static constexpr const char* main_phase = "runs";

  /// Results in the order of `points`; equal configurations run once. `phase` is what progress calls them. A run.json
  /// that cannot be used is named on standard error, and made again. A run that fails takes nothing from the others:
  /// its result says why, and `failed` has it. Throws UsageError as soon as a run refuses its configuration, and
  /// Interruption after ending its processes; what is finished is kept.
  std::vector<StudyResult> run(const std::vector<StudyPoint>& points, const std::string& phase);

  /// All runs that failed, each once.
  const std::vector<FailedRun>& failed() const { return failed_; }
  /// How many runs it was asked for, equal ones counted once.
  std::size_t asked() const { return asked_.size(); }

 private:
  void complete(StudyResult& result, const std::string& identity, const RunFailures& failures,
                const std::string& phase);
  void note_failure(const StudyResult& result, const std::string& phase);

  std::filesystem::path folder_;
  RunMaker& maker_;
  FileDigests digests_;
  std::vector<FailedRun> failed_;
  std::set<std::string> failed_folders_;
  std::set<std::string> asked_;  ///< folders
};

}  // namespace trigram
