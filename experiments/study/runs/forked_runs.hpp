// Makes runs on this machine, each in a process of its own.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "experiments/study/runs/run_costs.hpp"
#include "experiments/study/runs/run_task.hpp"

namespace trigram {

/// A forked process a run, in a process group of its own, so that the backend's processes end with it; `jobs` at a
/// time.
class ForkedRuns : public RunMaker {
 public:
  /// Told as soon as a run has ended, well or not.
  using TellCost = std::function<void(const RunTask& task, const RunCost& cost)>;

  explicit ForkedRuns(int jobs, TellCost tell = {}) : jobs_(jobs), tell_(std::move(tell)) {}

  /// One of each row first, where there are many, from which it says how long the others are expected to take.
  RunFailures make(std::vector<RunTask> tasks, const std::string& phase) override;
  /// In their order.
  RunFailures make_in_order(std::vector<RunTask> tasks, const std::string& phase);

 private:
  int jobs_;
  TellCost tell_;
};

}  // namespace trigram
