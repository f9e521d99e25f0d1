#include "experiments/study/runs/run_pool.hpp"

#include <algorithm>
#include <iostream>
#include <map>

#include "experiments/study/study_run.hpp"

namespace trigram {
namespace {

namespace fs = std::filesystem;

/// In the order of their folders.
std::vector<RunTask> in_order(std::map<fs::path, RunTask> tasks) {
  std::vector<RunTask> all;
  for (auto& [place, task] : tasks) all.push_back(std::move(task));
  return all;
}

}  // namespace

std::vector<StudyResult> RunPool::run(const std::vector<StudyPoint>& points, const std::string& phase) {
  std::vector<StudyResult> results;
  std::vector<std::string> identities;
  std::map<fs::path, RunTask> waiting;
  for (const StudyPoint& point : points) {
    StudyRun planned(folder_, point);
    asked_.insert(planned.name);
    RecordedRun recorded = read_run(planned.config.out, planned.identity, digests_);
    results.push_back({point, planned.name, std::move(recorded.run)});
    identities.push_back(planned.identity);
    if (!results.back().run.is_null() || waiting.contains(planned.config.out)) continue;
    if (!recorded.problem.empty()) {
      std::cerr << "trigram: " << (planned.config.out / "run.json").string() << ": " << recorded.problem
                << "; the run is made again" << std::endl;
    }
    const fs::path place = planned.config.out;
    waiting.emplace(place, task_of(std::move(planned), point));
  }
  const RunFailures failures = maker_.make(in_order(std::move(waiting)), phase);
  for (std::size_t i = 0; i < results.size(); ++i) complete(results[i], identities[i], failures, phase);
  return results;
}

void RunPool::complete(StudyResult& result, const std::string& identity, const RunFailures& failures,
                       const std::string& phase) {
  if (!result.run.is_null()) return;
  const fs::path folder = folder_ / result.folder;
  if (const auto failed = failures.find(folder); failed != failures.end()) {
    result.failure = failed->second.message;
    result.missing = failed->second.missing;
  } else {
    RecordedRun recorded = read_run(folder, identity, digests_);
    if (recorded.run.is_null())
      result.failure =
          "its run.json cannot be used: " + (recorded.problem.empty() ? "it is not there" : recorded.problem);
    result.run = std::move(recorded.run);
  }
  if (!result.failure.empty()) note_failure(result, phase);
}

void RunPool::note_failure(const StudyResult& result, const std::string& phase) {
  if (!failed_folders_.insert(result.folder).second) return;
  failed_.push_back({result.point, phase, result.folder, result.failure, command_of(result.point), result.missing});
}

}  // namespace trigram
