// Runs whose ranks may be processes that a launcher started: what they must have in common.
#pragma once

#include <string>

#include "core/training/backend.hpp"
#include "core/world/configuration.hpp"
#include "experiments/settings/backend_choice.hpp"
#include "experiments/settings/settings.hpp"

namespace trigram {

/// Throws UsageError where a launcher started several processes, but not as ranks of this backend: `command` would then
/// run as often.
void require_ranks_of(const Backend& backend, const std::string& command, const BackendChoice& place);

/// What all ranks of a run must have been given alike: the subcommand, its flags, the parameters of the backend and its
/// cluster, and the program's version. Flags that concern one process only are left out.
Configuration same_on_all_ranks(const std::string& subcommand, const Settings& flags, const BackendChoice& place);

}  // namespace trigram
