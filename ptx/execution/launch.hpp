// Runs a kernel on this host.
#pragma once

#include "ptx/execution/schedule.hpp"
#include "ptx/fault.hpp"
#include "ptx/grid.hpp"
#include "ptx/memory.hpp"
#include "ptx/module.hpp"
#include "ptx/observer.hpp"

namespace trigram::ptx {

/// Runs all blocks of a grid, one after another, and tells `observer`, if any, what they do. Throws Fault for what the
/// kernel does wrong, and UsageError for a launch that CUDA would refuse.
void launch(const Kernel& kernel, const Launch& launch, Memory& memory, Schedule schedule,
            Observer* observer = nullptr);

}  // namespace trigram::ptx
