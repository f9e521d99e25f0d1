#include "experiments/program/studies/study_flags.hpp"

#include <unistd.h>

#include <algorithm>
#include <set>

#include "core/values/error.hpp"
#include "core/values/quoted.hpp"
#include "experiments/settings/places.hpp"
#include "experiments/settings/run_config.hpp"

namespace trigram {
namespace {

/// Whether a flag of `trigram run` may be given for a whole study; what a study does itself is its own.
bool is_for_all_runs(const Params::Declared& flag) {
  static const std::set<std::string> own{"out",        "config",           "trace", "progress",
                                         "checkpoint", "checkpoint-every", "resume"};
  return !own.contains(flag.key);
}

void require_one_way(const StudyFlags& flags) {
  const int ways = static_cast<int>(flags.plan) + static_cast<int>(!flags.cells.empty()) +
                   static_cast<int>(flags.collect) + static_cast<int>(!flags.executor.empty());
  require(ways <= 1, "trigram study: --plan, --cells, --collect and --executor exclude each other; give one of them");
  require(
      !flags.uncertainty.given || flags.uncertainty.draws == 0 || flags.cells.empty(),
      "trigram study: --cells makes what --plan and --uncertainty have planned; give --uncertainty to --plan and to "
      "--collect");
}

}  // namespace

StudyFlags::StudyFlags(Params& flags)
    : out(flags.get("out", "", "folder of the results; empty: results/NAME")),
      jobs(flags.get("jobs", 0, "runs at a time; 0: one a core", {0, 1024})),
      plots(flags.get("plot", true, "draw pictures at the end")),
      recalibrate(
          flags.get("recalibrate", false, "search for calibrated values, instead of using those of the study's file")),
      plan(flags.get("plan", false,
                     "make no run, and write those that are to be made into plan.jsonl of the results, a "
                     "line a cell, those that are expected to take longest first")),
      cells(flags.get("cells", "",
                      "make these cells and nothing else: a file of lines of a plan, - for standard input, or a share "
                      "of all, as 3/16")),
      collect(
          flags.get("collect", false,
                    "make no run, and draw and print what there is; the exit code is 1 where something is missing")),
      executor(flags.get("executor", "",
                         "who makes the runs in place of this machine: dask, dask:FILE, a scheduler's file, "
                         "dask:tcp://HOST:PORT, or slurm, with --slurm-FLAG=VALUE for sbatch")),
      task_seconds(flags.get("task-seconds", 1.0,
                             "what a task of an executor lasts at least: cells are grouped until they are expected to",
                             {0, 1e6})),
      dry_run(flags.get("dry-run", false, "print the job of --executor slurm, and submit nothing")),
      uncertainty(flags, 64,
                  "draws from the ranges that files of clusters and systems state (25us in 15us..60us), to give a "
                  "median and ranges that hold: each simulated where it is given; else 64, which few short simulations "
                  "of each run tell, of studies that are made here; 0: none") {}

std::vector<Params::Declared> study_flags() {
  std::vector<Params::Declared> flags = declared_flags<StudyFlags>("trigram study");
  for (Params::Declared flag : run_flags()) {
    if (!is_for_all_runs(flag)) continue;
    flag.description = "of all runs, in place of [run]: " + flag.description;
    flag.fallback = "";
    flags.push_back(flag);
  }
  return flags;
}

StudyFlags read_study_flags(const Settings& given) {
  const auto study = given.find("STUDY");
  require(study != given.end() && !study->second.empty(),
          "trigram study: name a study or its file; trigram list studies shows those that are shipped");
  Params flags = as_params("trigram study", given);
  StudyFlags read(flags);
  require_one_way(read);
  read.file = find_config("studies", "study", study->second);
  if (read.jobs == 0) read.jobs = static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
  if (read.out.empty()) read.out = std::filesystem::path("results") / read.file.stem();
  return read;
}

Settings flags_of_runs(const Settings& given, const Study& study) {
  Settings flags;
  for (const Params::Declared& flag : run_flags()) {
    const auto found = given.find(flag.key);
    if (found == given.end() || !is_for_all_runs(flag)) continue;
    const bool swept = std::ranges::any_of(study.sweep, [&](const Axis& axis) {
      const std::vector<std::string> keys = parts_of(axis.key);
      return std::ranges::find(keys, flag.key) != keys.end();
    });
    require(
        !swept, "trigram study: --", flag.key, "=", [&] { return shown(found->second); },
        " would be for all runs, but ", [&] { return study.file.string(); },
        " sweeps it; leave it out, or change [sweep] there");
    flags.insert(*found);
  }
  return flags;
}

}  // namespace trigram
