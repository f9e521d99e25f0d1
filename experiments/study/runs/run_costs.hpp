// What the runs of a study have taken, by which those that are to be made are expected to take as much.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "experiments/study/runs/run_task.hpp"

namespace trigram {

/// 0 where nobody knows.
struct RunCost {
  double seconds = 0;
  double memory = 0;  ///< bytes
};

/// "{"cell":…,"like":…,"row":…,"seconds":…,"memory":…}", a line.
std::string cost_line(const RunTask& task, const RunCost& cost);

/// Puts lines of costs behind those of the study's costs.jsonl. What cannot be written is no loss but of expectations.
void append_costs(const std::filesystem::path& study, const std::string& lines);

/// Once nothing is to be made any more.
void remove_costs(const std::filesystem::path& study);

/// Means over runs.
class RunCosts {
 public:
  /// Of costs.jsonl; lines that are not whole are passed over.
  explicit RunCosts(const std::filesystem::path& study);

  /// Of runs like it; else of its row; else of all.
  RunCost expected(const RunTask& task) const;

 private:
  struct Mean {
    void add(const RunCost& cost);
    double runs = 0, seconds = 0;
    double memory = 0;  ///< the most
  };
  std::map<std::string, Mean> like_, row_;
  Mean all_;
};

}  // namespace trigram
