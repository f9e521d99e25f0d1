// What the parts of a study must have in common.
#pragma once

#include <string>

#include "experiments/study/study.hpp"

namespace trigram {

/// Rows, variants and studies name folders and files, which must not lie elsewhere. Throws UsageError; `what` is what
/// the message calls the name.
void require_name(const std::string& name, const std::string& what);

/// Checks a study that was read whole: names, rows, axes, and numbers of run.json. Throws UsageError naming section and
/// key.
void check(const Study& study);

/// The number of a value that the target's axis is swept over: "16Gbps" is 16 where its unit is Gbps. Throws
/// UsageError.
double x_of(const Target& target, const std::string& value);

}  // namespace trigram
