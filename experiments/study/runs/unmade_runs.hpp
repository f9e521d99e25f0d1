// Leaves runs as they are: who collects a study or plans it makes none.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "experiments/study/runs/run_task.hpp"

namespace trigram {

/// Makes nothing. Of a run that somebody has tried to make it says what that came to, of others that they are missing.
class UnmadeRuns : public RunMaker {
 public:
  using Tell = std::function<void(RunTask task)>;

  /// `tell` is told each run that is not there.
  explicit UnmadeRuns(Tell tell = {}) : tell_(std::move(tell)) {}

  RunFailures make(std::vector<RunTask> tasks, const std::string& phase) override;

 private:
  Tell tell_;
};

/// Whether somebody has tried to make the run of that place, and failed.
bool has_failed(const std::filesystem::path& place);

}  // namespace trigram
