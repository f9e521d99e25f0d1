// Checks many configurations before the first one runs.
#include <algorithm>
#include <deque>
#include <set>
#include <utility>
#include <vector>

#include "core/values/error.hpp"
#include "core/values/packing.hpp"
#include "experiments/study/runs/run_pool.hpp"
#include "experiments/study/study_run.hpp"
#include "processes/child_process.hpp"

namespace trigram {
namespace {

/// The first refusal of a checker.
struct Refused {
  std::size_t index;
  std::string message;
};

/// Every `stride`-th run from the `first`, until one is refused.
Refused first_refusal(const std::vector<StudyRun>& runs, std::size_t first, std::size_t stride) {
  for (std::size_t i = first; i < runs.size(); i += stride) {
    try {
      check_run(runs[i].config);
    } catch (const std::exception& error) {
      return {i, error.what()};
    }
  }
  return {runs.size(), ""};
}

Bytes packed(const Refused& refusal) {
  Packer packer;
  packer.put(refusal.index);
  packer.put_text(refusal.message);
  return std::move(packer).bytes();
}

/// A process that checks its share of the runs.
class Checker {
 public:
  Checker(const std::vector<StudyRun>& runs, std::size_t first, std::size_t stride)
      : process_("the process that checks the runs of the study",
                 [&](HomeLine& home) { home.send_result(packed(first_refusal(runs, first, stride))); }) {}

  /// Waits for it.
  Refused refusal() {
    while (!process_.ended()) process_.read_some();
    const Bytes bytes = process_.result();
    Unpacker unpacker(bytes);
    Refused refusal{unpacker.take<std::size_t>(), ""};
    refusal.message = unpacker.take_text();
    return refusal;
  }

 private:
  ChildProcess process_;
};

}  // namespace

void RunPool::check(const std::vector<StudyPoint>& points, int jobs) {
  std::vector<StudyRun> runs;
  std::vector<std::string> places;
  std::set<std::string> seen;
  for (const StudyPoint& point : points) {
    StudyRun run(folder_, point);
    if (!seen.insert(run.name).second || !read_run(run.config.out, run.identity, digests_).run.is_null()) continue;
    runs.push_back(std::move(run));
    places.push_back(point.place);
  }
  const std::size_t checkers = std::min(runs.size(), static_cast<std::size_t>(jobs));
  std::deque<Checker> all;
  for (std::size_t i = 0; i < checkers; ++i) all.emplace_back(runs, i, checkers);
  Refused first{runs.size(), ""};
  for (Checker& checker : all) {
    Refused refusal = checker.refusal();
    if (refusal.index < first.index) first = std::move(refusal);
  }
  if (first.index < runs.size()) throw UsageError(places[first.index] + first.message);
}

}  // namespace trigram
