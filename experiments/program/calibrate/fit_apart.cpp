#include "experiments/program/calibrate/fit_apart.hpp"

#include <set>

#include "core/values/error.hpp"
#include "experiments/program/studies/prediction_cells.hpp"
#include "experiments/program/studies/study_executor.hpp"
#include "experiments/record/report_file.hpp"

namespace trigram {
namespace {

constexpr const char* trigram_calibrate = "trigram calibrate";

/// What is missing by now; what a fit asks next depends on it.
void plan(const FitApartFlags& flags, CalibrateFrom asked) {
  const ResultFolder folder(flags.work, {"plan.jsonl"});
  asked.source.makes = false;
  try {
    calibrate_from(asked);
    plan_predictions(flags.work, {});
  } catch (const MissingPredictions& missing) {
    plan_predictions(flags.work, missing.tasks());
  }
}

int hand_over(const FitApartFlags& flags, const CalibrateFrom& asked, const Settings& given,
              const std::vector<std::string>& slurm) {
  static const std::set<std::string> own{"work", "jobs", "plan", "cells", "executor", "task-seconds", "dry-run"};
  return execute({"calibrate", "", asked.table.stem().string(), words_but(given, own), "work", flags.work,
                  flags.executor, asked.source.jobs, flags.task_seconds, flags.dry_run},
                 slurm);
}

}  // namespace

FitApartFlags::FitApartFlags(Params& flags)
    : work(
          flags.get("work", "",
                    "with --from: folder of what was simulated, which is not simulated again, so that the same command "
                    "continues; empty: none")),
      plan(flags.get(
          "plan", false,
          "with --from and --work: simulate nothing, and write what is to be simulated into plan.jsonl there, "
          "a line a simulation")),
      cells(flags.get("cells", "",
                      "with --work: simulate these lines of a plan and nothing else: a file, or - for "
                      "standard input")),
      executor(flags.get("executor", "",
                         "with --from and --work: who simulates in place of this machine: dask, dask:FILE, "
                         "dask:tcp://HOST:PORT, or slurm, with --slurm-FLAG=VALUE for sbatch")),
      task_seconds(flags.get("task-seconds", 1.0,
                             "what a task of an executor lasts at least: simulations are grouped until they are "
                             "expected to",
                             {0, 1e6})),
      dry_run(flags.get("dry-run", false, "print the job of --executor slurm, and submit nothing")) {
  const int ways = static_cast<int>(plan) + static_cast<int>(!cells.empty()) + static_cast<int>(!executor.empty());
  require(ways <= 1, trigram_calibrate, ": --plan, --cells and --executor exclude each other; give one of them");
  require(ways == 0 || !work.empty(), trigram_calibrate,
          ": --plan, --cells and --executor need --work FOLDER, on a disk that all machines share");
}

int fit_apart(const FitApartFlags& flags, CalibrateFrom asked, const Settings& given,
              const std::vector<std::string>& slurm) {
  if (!flags.cells.empty()) {
    make_predictions(lines_of_cells(flags.cells, trigram_calibrate), flags.work, asked.source.jobs);
    return 0;
  }
  if (!flags.executor.empty()) return hand_over(flags, asked, given, slurm);
  require_no_flags_of_slurm(trigram_calibrate, flags.dry_run, slurm);
  if (!flags.work.empty()) asked.source.kept = predictions_of(flags.work);
  if (flags.plan) {
    plan(flags, asked);
  } else {
    calibrate_from(asked);
  }
  return 0;
}

}  // namespace trigram
