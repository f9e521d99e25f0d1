// What others make: a script hands cells to Dask, or writes a job for Slurm.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "experiments/program/flags/subcommand.hpp"
#include "experiments/program/studies/study_flags.hpp"

namespace trigram {

/// What an executor is given.
struct HandedOver {
  std::string subcommand;          ///< which takes --plan, --cells and `folder_flag`
  std::string subject;             ///< a study's file, which stands behind it; empty: nothing does
  std::string title;               ///< names a job
  std::vector<std::string> words;  ///< say what is to be made, without where and by whom
  std::string folder_flag;         ///< "out"
  std::filesystem::path folder;    ///< on a disk that all share
  std::string executor;
  int jobs = 1;
  double task_seconds = 1;
  bool dry_run = false;  ///< print the job instead of submitting it
};

/// Takes "--slurm-FLAG=VALUE" and "--slurm-FLAG", which are sbatch's and not ours, out of a command line: first the
/// other words, then these, as "--FLAG=VALUE". Throws UsageError for one without a name.
std::pair<Arguments, std::vector<std::string>> without_slurm_flags(const Arguments& arguments);

/// Throws UsageError where something is asked of Slurm, which does not make this.
void require_no_flags_of_slurm(const std::string& subcommand, bool dry_run, const std::vector<std::string>& slurm);

/// Those of `given` that say what is to be made: all but `own`, as words.
std::vector<std::string> words_but(const Settings& given, const std::set<std::string>& own);

/// Has it made and returns the exit code; `slurm` are flags for sbatch. Throws UsageError for an executor that nobody
/// knows, and where flags for Slurm are given to another one.
int execute(const HandedOver& work, const std::vector<std::string>& slurm);

/// The same for a whole study; `given` are all its flags.
int execute(const StudyFlags& flags, const Settings& given, const std::vector<std::string>& slurm);

}  // namespace trigram
