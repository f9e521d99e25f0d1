// The GPUs of this machine.
#pragma once

#include "backends/gpu/host/hosts.hpp"

namespace trigram::gpu {

/// How many GPUs this process may use, asked in a forked child so that this process may still fork; asked once. Throws
/// UsageError where there is none, with CUDA's reason.
int device_count();

/// The one that this thread uses now.
int current_device();

/// Makes `device` this process's, and says which it is in `location`.
void take_device(int device, RankLocation& location);

/// "13.0" of the driver, for the report.
std::string driver_version();

}  // namespace trigram::gpu
