// Systems: how a published system communicates, as defaults of flags, in files named or by path.
#pragma once

#include <vector>

#include "core/registry/params.hpp"
#include "experiments/settings/settings.hpp"

namespace trigram {

/// What `given` says over what its "system" says, if it names one: flags win, and a parameter inside a flag's own value
/// ("cluster = mine:nic_efficiency=0.9") wins over the system's "cluster.nic_efficiency", and so does what the
/// cluster's own file says of it. Of the system's lines those are taken that are of `flags`, which may be fewer than a
/// run has. Throws UsageError for an unknown system, a missing file, a line that is no flag of a run, and a system
/// inside a system.
Settings with_system(const Settings& given, const std::vector<Params::Declared>& flags);

}  // namespace trigram
