// The folder in which a run is made: it takes its place in the study whole, in one step.
#pragma once

#include <filesystem>
#include <string>

namespace trigram {

/// A folder STUDY/.making/HOST-RANDOM for a run whose place is STUDY/runs/ROW-HASH. Nobody else writes into it, so that
/// whoever makes the same run at the same time, here or on another machine of the same disk, does no harm. It needs no
/// locks of the file system; where there are some, leftovers of this host's processes that were killed are found by
/// them.
class RunFolder {
 public:
  /// Makes it, with an empty log.txt. Throws UsageError naming the path and the reason.
  RunFolder(std::filesystem::path place, std::string identity);
  RunFolder(RunFolder&& other) noexcept;
  RunFolder& operator=(RunFolder&&) = delete;
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;
  /// Removes it where it has not taken its place.
  ~RunFolder();

  const std::filesystem::path& path() const { return path_; }
  /// Of log.txt, open for writing.
  int log() const { return log_; }

  /// Whether the run is there by now, made by somebody else.
  bool overtaken() const;
  /// Takes the place of whatever lies there; of a run that is there already this one goes. Throws UsageError.
  void take_place();

 private:
  std::filesystem::path place_, path_;
  std::string identity_;
  int log_ = -1;
};

/// Removes what processes of this host, which have been killed, have left of runs of that study.
void remove_abandoned_runs(const std::filesystem::path& study);

/// Removes what anybody has left: for a study of which nothing is missing.
void remove_unfinished_runs(const std::filesystem::path& study);

}  // namespace trigram
