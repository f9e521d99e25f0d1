// What may be other when a run goes on from a checkpoint.
#pragma once

#include <cstdint>

#include "core/world/configuration.hpp"

namespace trigram {

/// Removes "steps" from both where a run of as many as `now` says is the one that `then` began, `done` steps ago: the
/// schedule, if it is still the same, gives each of those steps the same learning rate. Throws UsageError where it does
/// not, or where all steps are done.
void allow_other_steps(Configuration& then, Configuration& now, std::int64_t done);

}  // namespace trigram
