// Runs that are to be made, and the interface of what makes them.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "experiments/settings/run_config.hpp"

namespace trigram {

/// One run that is to be made.
struct RunTask {
  RunConfig config;      ///< whose `out` is the place that its folder takes, STUDY/runs/ROW-HASH
  std::string identity;  ///< for read_run
  std::string name;      ///< of its folder: "ROW-HASH"
  Settings flags;        ///< from which `config` was made
  std::string place;     ///< where the study asks for it, for messages: "FILE:LINE: row 'NAME': "
  std::string row;
  std::string like;  ///< row and swept values but the seed: runs that are expected to take as long are of one such text
};

/// Why there is no run.
struct RunFailure {
  std::string message;
  bool missing = false;  ///< nobody has tried to make it
};

/// By the place of the run's folder.
using RunFailures = std::map<std::filesystem::path, RunFailure>;

/// Makes runs where a study needs them.
class RunMaker {
 public:
  RunMaker() = default;
  RunMaker(const RunMaker&) = delete;
  RunMaker& operator=(const RunMaker&) = delete;
  virtual ~RunMaker() = default;

  /// Makes them into their places, and returns those that are not there in the end. `phase` is what progress calls
  /// them. Throws UsageError for a run that refuses its configuration, and Interruption.
  virtual RunFailures make(std::vector<RunTask> tasks, const std::string& phase) = 0;
};

}  // namespace trigram
