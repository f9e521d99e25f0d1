#include "experiments/program/studies/study_cells.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <iostream>
#include <iterator>
#include <limits>
#include <sstream>
#include <vector>

#include "core/values/error.hpp"
#include "core/values/located.hpp"
#include "core/values/quoted.hpp"
#include "experiments/fit/predictions/prediction_cell.hpp"
#include "experiments/program/studies/prediction_cells.hpp"
#include "experiments/program/studies/study_draws.hpp"
#include "experiments/record/report_file.hpp"
#include "experiments/record/run_record.hpp"
#include "experiments/study/cell.hpp"
#include "experiments/study/comparison/selection.hpp"
#include "experiments/study/known_cells.hpp"
#include "experiments/study/runs/forked_runs.hpp"
#include "experiments/study/runs/run_costs.hpp"
#include "experiments/study/runs/run_folder.hpp"
#include "experiments/study/runs/unmade_runs.hpp"
#include "experiments/study/study_calibration.hpp"

namespace trigram {
namespace {

namespace fs = std::filesystem;

/// A line of a plan with what it is ordered by.
struct Line {
  double seconds;  ///< infinite where nobody knows
  std::string text;
  bool failed;  ///< it was tried
};

Line line_of(const RunTask& cell, const RunCosts& costs) {
  const RunCost expected = costs.expected(cell);
  const bool failed = has_failed(cell.config.out);
  return {expected.seconds > 0 ? expected.seconds : std::numeric_limits<double>::infinity(),
          cell_line(cell, expected, failed), failed};
}

/// What the draws of a study whose runs have been made are still to predict.
std::vector<Line> lines_of_draws(const Study& study, const StudyFlags& flags, const Published& published) {
  UnmadeRuns nowhere;
  RunPool pool(flags.out, nowhere);
  const Calibrated found = calibrate(study, published, pool, flags.recalibrate);
  const Selected selected = select(study, main_points(study, found.values), pool);
  const std::vector<StudyResult> main = pool.run(selected.points, RunPool::main_phase);
  const std::vector<StudyResult> own = pool.run(own_points(study), RunPool::main_phase);
  std::vector<Line> lines;
  try {
    whole_draws(study, drawn_runs(study, main, own),
                flags.uncertainty.from({flags.jobs, predictions_of(flags.out), /*makes=*/false}));
  } catch (const MissingPredictions& missing) {
    for (const PredictionTask& task : missing.tasks())
      lines.push_back({std::numeric_limits<double>::infinity(), prediction_line(task), /*failed=*/false});
  }
  return lines;
}

/// Some at a time.
void write_lines(const fs::path& path, const std::vector<Line>& lines) {
  constexpr std::size_t much = 1 << 16;
  NewFile file(path);
  std::string waiting;
  for (const Line& line : lines) {
    waiting.append(line.text).append("\n");
    if (waiting.size() < much) continue;
    file.write(waiting);
    waiting.clear();
  }
  file.write(waiting);
  file.keep();
}

std::string plan_words(const fs::path& file, std::size_t cells, const KnownCells& known) {
  return std::to_string(cells) + " cells to make in " + file.string() + ", " + std::to_string(known.finished) +
         " finished" + (known.more_follow ? "; more follow, which these decide: plan again once they are made" : "") +
         "\n";
}

std::vector<RunTask> share_of(const CellShare& share, const Study& study, const StudyFlags& flags,
                              const Published& published) {
  std::vector<RunTask> cells;
  visit_cells(study, published, flags.out, flags.recalibrate, flags.jobs, [&](RunTask cell) {
    if (share.has(cell)) cells.push_back(std::move(cell));
  });
  return cells;
}

/// Makes the lines that are predictions, and returns the text without them.
std::string without_predictions(const StudyFlags& flags) {
  std::string runs;
  std::vector<std::string> predictions;
  for (const std::string& line : lines_of_cells(flags.cells, "trigram study")) {
    const bool predicts = is_prediction(line);
    if (predicts) predictions.push_back(line);
    runs += (predicts ? "" : line) + "\n";  // lines keep their numbers
  }
  if (!predictions.empty()) make_predictions(predictions, flags.out, flags.jobs);
  return runs;
}

/// The cells of a file, or of standard input.
std::vector<RunTask> listed_cells(const StudyFlags& flags) {
  std::istringstream lines(without_predictions(flags));
  return read_cells(lines, flags.cells == "-" ? "standard input" : flags.cells, flags.out);
}

void drop_finished(std::vector<RunTask>& cells) {
  FileDigests digests;
  std::erase_if(cells,
                [&](const RunTask& cell) { return !read_run(cell.config.out, cell.identity, digests).run.is_null(); });
}

/// Prints costs as they become known, and puts them into the study's folder, some at a time.
class CostLog {
 public:
  explicit CostLog(fs::path study) : study_(std::move(study)) {}
  ~CostLog() { write(); }
  CostLog(const CostLog&) = delete;
  CostLog& operator=(const CostLog&) = delete;

  void add(const RunTask& cell, const RunCost& cost) {
    const std::string line = cost_line(cell, cost);
    std::cout << line << std::flush;
    waiting_ += line;
    if (Clock::now() - written_ > std::chrono::seconds(1)) write();
  }

 private:
  using Clock = std::chrono::steady_clock;

  void write() {
    if (!waiting_.empty()) append_costs(study_, waiting_);
    waiting_.clear();
    written_ = Clock::now();
  }

  fs::path study_;
  std::string waiting_;
  Clock::time_point written_ = Clock::now();
};

}  // namespace

Published published_of(const Study& study) {
  if (!study.target) return {};
  return located(study.file.string() + ": [target] file: ", [&] { return read_published(*study.target); });
}

void write_plan(const Study& study, const StudyFlags& flags, const Published& published) {
  const RunCosts costs(flags.out);
  std::vector<Line> lines;
  KnownCells known = visit_cells(study, published, flags.out, flags.recalibrate, flags.jobs,
                                 [&](const RunTask& cell) { lines.push_back(line_of(cell, costs)); });
  if (flags.uncertainty.given && flags.uncertainty.draws > 0) {
    known.more_follow = known.more_follow || !std::ranges::all_of(lines, &Line::failed);
    if (!known.more_follow) std::ranges::move(lines_of_draws(study, flags, published), std::back_inserter(lines));
  }
  std::ranges::stable_sort(lines, std::greater{}, &Line::seconds);
  write_lines(plan_file(flags.out), lines);
  std::cout << plan_words(plan_file(flags.out), lines.size(), known);
}

int make_cells(const Study& study, const StudyFlags& flags, const Published& published) {
  const std::optional<CellShare> share = CellShare::read(flags.cells);
  std::vector<RunTask> cells = share ? share_of(*share, study, flags, published) : listed_cells(flags);
  drop_finished(cells);
  remove_abandoned_runs(flags.out);
  CostLog log(flags.out);
  ForkedRuns here(flags.jobs, [&](const RunTask& cell, const RunCost& cost) { log.add(cell, cost); });
  const RunFailures failures = here.make_in_order(std::move(cells), "cells");
  for (const auto& [place, failure] : failures)
    std::cerr << "trigram: " << place.filename().string() << ": " << failure.message << "\n";
  return failures.empty() ? 0 : 1;
}

void remove_leftovers(const fs::path& study) {
  remove_unfinished_runs(study);
  std::error_code ignored;
  fs::remove(plan_file(study), ignored);
  fs::remove_all(predictions_of(study), ignored);
  remove_costs(study);
}

}  // namespace trigram
