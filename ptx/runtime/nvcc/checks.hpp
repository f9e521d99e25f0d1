// The checks that a test asks for, beside memcheck and synccheck, which are always made.
#pragma once

#include <string>
#include <vector>

namespace cuda_on_host {

/// Begins to check all that is done from now on. Names are "initcheck" (reads of device, shared and local memory that
/// nobody wrote, by kernels and by copies to the host), "racecheck" (threads of a launch that nothing orders) and
/// "streamcheck" (work of two streams that nothing orders). They are compute-sanitizer's where it has such a tool. What
/// they find is said once on the error stream and ends no kernel. Throws UsageError for another name.
void check_kernels(const std::vector<std::string>& names);
void check_no_longer();

/// What was found since the last call.
std::vector<std::string> take_findings();

}  // namespace cuda_on_host
