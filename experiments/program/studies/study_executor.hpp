// A study whose runs others make: a script hands its cells to Dask, or writes a job for Slurm.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "experiments/program/flags/subcommand.hpp"
#include "experiments/program/studies/study_flags.hpp"

namespace trigram {

/// Takes "--slurm-FLAG=VALUE" and "--slurm-FLAG", which are sbatch's and not ours, out of a command line: first the
/// other words, then these, as "--FLAG=VALUE". Throws UsageError for one without a name.
std::pair<Arguments, std::vector<std::string>> without_slurm_flags(const Arguments& arguments);

/// Throws UsageError where something is asked of Slurm, which does not make this study.
void require_no_flags_of_slurm(const StudyFlags& flags, const std::vector<std::string>& slurm);

/// Makes the study by flags.executor and returns the exit code; `given` are all flags, `slurm` those for sbatch. Throws
/// UsageError for an executor that nobody knows, and where flags for Slurm are given to another one.
int execute(const StudyFlags& flags, const Settings& given, const std::vector<std::string>& slurm);

}  // namespace trigram
