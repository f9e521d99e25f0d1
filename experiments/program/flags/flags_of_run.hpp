// Flags of a subcommand that stand beside those of the runs that it makes.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "core/registry/params.hpp"
#include "experiments/settings/settings.hpp"

namespace trigram {

/// The subcommand's `own` flags, then those of a run but for the ones that it decides itself.
std::vector<Params::Declared> beside_flags_of_run(std::vector<Params::Declared> own,
                                                  const std::set<std::string>& decided);

/// Of what was given, the subcommand's own and the rest, which is the run's.
struct OwnAndRun {
  Settings own, run;
};
OwnAndRun parted(const Settings& given, const std::vector<Params::Declared>& own);

}  // namespace trigram
