// A fit whose simulations others make: planned, made apart, or handed to an executor.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "experiments/program/calibrate/calibrate_from.hpp"
#include "experiments/settings/settings.hpp"

namespace trigram {

/// The flags that say who makes a fit's simulations.
struct FitApartFlags {
  /// Declares and reads them. Throws UsageError.
  explicit FitApartFlags(Params& flags);

  std::filesystem::path work;  ///< folder of what was simulated; empty: nothing is kept
  bool plan;                   ///< write what is to be simulated, and simulate nothing
  std::string cells;           ///< a file of simulations to make, or "-"; empty: the fit is asked for
  std::string executor;
  double task_seconds;
  bool dry_run;
};

/// Fits, plans, or has it made elsewhere, and returns the exit code. `given` are all flags of the command, `slurm`
/// those for sbatch.
int fit_apart(const FitApartFlags& flags, CalibrateFrom asked, const Settings& given,
              const std::vector<std::string>& slurm);

}  // namespace trigram
