// Whether there is memory for what is asked, before anything is started.
#pragma once

#include <string_view>

namespace trigram {

/// Bytes that this process can still take: what the machine has to give, or less where a limit of the process or of its
/// control group says so.
double available_memory();

/// Throws UsageError with both figures where `bytes` are more than there is. `what` needs them: "16384 ranks".
void require_memory(double bytes, std::string_view what);

/// Throws UsageError with both figures where `bytes` are more than a limit on the addresses of this process leaves:
/// these count whether they are touched or not. `what` reserves them: "the stacks of 4000 ranks".
void require_address_space(double bytes, std::string_view what);

}  // namespace trigram
