#include "experiments/program/studies/study_cells.hpp"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <functional>
#include <iostream>
#include <limits>
#include <vector>

#include "core/values/error.hpp"
#include "core/values/located.hpp"
#include "core/values/quoted.hpp"
#include "experiments/record/report_file.hpp"
#include "experiments/record/run_record.hpp"
#include "experiments/study/cell.hpp"
#include "experiments/study/known_cells.hpp"
#include "experiments/study/runs/forked_runs.hpp"
#include "experiments/study/runs/run_costs.hpp"
#include "experiments/study/runs/run_folder.hpp"
#include "experiments/study/runs/unmade_runs.hpp"

namespace trigram {
namespace {

namespace fs = std::filesystem;

fs::path plan_file(const fs::path& study) { return study / "plan.jsonl"; }

/// A line of a plan with what it is ordered by.
struct Line {
  double seconds;  ///< infinite where nobody knows
  std::string text;
};

Line line_of(const RunTask& cell, const RunCosts& costs) {
  const RunCost expected = costs.expected(cell);
  return {expected.seconds > 0 ? expected.seconds : std::numeric_limits<double>::infinity(),
          cell_line(cell, expected, has_failed(cell.config.out))};
}

std::string plan_words(const fs::path& file, std::size_t cells, const KnownCells& known) {
  return std::to_string(cells) + " cells to make in " + file.string() + ", " + std::to_string(known.finished) +
         " finished" + (known.more_follow ? "; more follow, which these decide: plan again once they are made" : "") +
         "\n";
}

/// The cells of a file, or of standard input.
std::vector<RunTask> listed_cells(const std::string& file, const fs::path& study) {
  if (file == "-") return read_cells(std::cin, "standard input", study);
  std::ifstream lines(file);
  require(lines.is_open() && !fs::is_directory(file), "trigram study: --cells ", shown(file),
          " is no file that can be read, nor a share as 3/16; trigram study --plan writes such a file");
  return read_cells(lines, file, study);
}

std::vector<RunTask> share_of(const CellShare& share, const Study& study, const StudyFlags& flags,
                              const Published& published) {
  std::vector<RunTask> cells;
  visit_cells(study, published, flags.out, flags.recalibrate, flags.jobs, [&](RunTask cell) {
    if (share.has(cell)) cells.push_back(std::move(cell));
  });
  return cells;
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
  const KnownCells known = visit_cells(study, published, flags.out, flags.recalibrate, flags.jobs,
                                       [&](const RunTask& cell) { lines.push_back(line_of(cell, costs)); });
  std::ranges::stable_sort(lines, std::greater{}, &Line::seconds);
  NewFile file(plan_file(flags.out));
  for (const Line& line : lines) file.write(line.text + "\n");
  file.keep();
  std::cout << plan_words(plan_file(flags.out), lines.size(), known);
}

int make_cells(const Study& study, const StudyFlags& flags, const Published& published) {
  const std::optional<CellShare> share = CellShare::read(flags.cells);
  std::vector<RunTask> cells = share ? share_of(*share, study, flags, published) : listed_cells(flags.cells, flags.out);
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
  remove_costs(study);
}

}  // namespace trigram
