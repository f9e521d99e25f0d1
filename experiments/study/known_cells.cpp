#include "experiments/study/known_cells.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "experiments/record/run_record.hpp"
#include "experiments/study/comparison/selection.hpp"
#include "experiments/study/runs/run_pool.hpp"
#include "experiments/study/runs/unmade_runs.hpp"
#include "experiments/study/study_calibration.hpp"
#include "experiments/study/study_run.hpp"

namespace trigram {
namespace {

class Visitor {
 public:
  Visitor(std::filesystem::path folder, const std::function<void(RunTask)>& visit)
      : folder_(std::move(folder)), visit_(visit) {}

  /// A cell that is not finished.
  void take(RunTask task) {
    if (seen_.insert(task.identity).second) visit_(std::move(task));
  }

  void ask(const StudyPoint& point) {
    if (rows_.insert({point.row, point.variant}).second) samples_.push_back(point);
    StudyRun run(folder_, point);
    if (seen_.contains(run.identity)) return;
    if (read_run(run.config.out, run.identity, digests_).run.is_null()) {
      take(task_of(std::move(run), point));
    } else {
      seen_.insert(run.identity);
      ++finished_;
    }
  }

  void ask_all(const std::vector<StudyPoint>& points) {
    for (const StudyPoint& point : points) ask(point);
  }

  /// One of each row and variant.
  const std::vector<StudyPoint>& samples() const { return samples_; }
  std::size_t finished() const { return finished_; }

 private:
  std::filesystem::path folder_;
  const std::function<void(RunTask)>& visit_;
  FileDigests digests_;
  std::set<std::string> seen_;  ///< identities
  std::set<std::pair<std::string, std::string>> rows_;
  std::vector<StudyPoint> samples_;
  std::size_t finished_ = 0;
};

/// Whether more follow once these are made.
bool ask_for_all(const Study& study, const Published& published, RunPool& pool, bool recalibrate, Visitor& visitor) {
  Settings found;
  try {
    found = calibrate(study, published, pool, recalibrate).values;
  } catch (const MissingRuns&) {
    return true;
  }
  bool more = false;
  if (study.selection) {
    const Selected selected = select(study, main_points(study, found), pool);
    visitor.ask_all(selected.points);
    more = std::ranges::any_of(selected.without, &FailedRun::missing);
  } else {
    visit_main_points(study, found, [&](const StudyPoint& point) { visitor.ask(point); });
  }
  visitor.ask_all(variant_points(study, found));
  visitor.ask_all(own_points(study));
  visitor.ask_all(learning_points(study));
  return more;
}

}  // namespace

KnownCells visit_cells(const Study& study, const Published& published, const std::filesystem::path& folder,
                       bool recalibrate, int jobs, const std::function<void(RunTask)>& visit) {
  Visitor visitor(folder, visit);
  UnmadeRuns unmade([&](RunTask task) { visitor.take(std::move(task)); });
  RunPool pool(folder, unmade);
  const bool more = ask_for_all(study, published, pool, recalibrate, visitor);
  pool.check(visitor.samples(), jobs);
  return {pool.asked() - std::min(pool.asked(), pool.failed().size()) + visitor.finished(), more};
}

}  // namespace trigram
