// What `trigram study` is asked for.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "experiments/program/flags/uncertainty.hpp"
#include "experiments/settings/settings.hpp"
#include "experiments/study/study.hpp"

namespace trigram {

/// The flags of `trigram study` itself, beside those of its runs.
struct StudyFlags {
  /// Declares and reads them. Throws UsageError.
  explicit StudyFlags(Params& flags);

  std::filesystem::path file;  ///< the study's
  std::filesystem::path out;
  int jobs;
  bool plots, recalibrate;
  bool plan;          ///< write what is to be made, and make nothing
  std::string cells;  ///< a file of cells, "-", or a share as "3/16", to make nothing else; empty: the whole study
  bool collect;       ///< tables and pictures of what is there
  std::string executor;
  double task_seconds;
  bool dry_run;  ///< print the job instead of submitting it
  UncertaintyFlags uncertainty;
};

/// All flags of `trigram study`.
std::vector<Params::Declared> study_flags();

/// Those among `given` of the study itself. Throws UsageError where no study is named, and where two are given of
/// --plan, --cells, --collect and --executor.
StudyFlags read_study_flags(const Settings& given);

/// Those among `given` that are flags of `trigram run`. Throws UsageError for one that the study sweeps: its values are
/// the file's.
Settings flags_of_runs(const Settings& given, const Study& study);

}  // namespace trigram
