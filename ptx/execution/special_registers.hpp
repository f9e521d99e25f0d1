// Registers that tell a thread where it is.
#pragma once

#include "ptx/execution/lanes.hpp"

namespace trigram::ptx {

/// Writes those that the kernel reads, for all lanes of a warp of the block that its state tells of.
void set_special_registers(const Kernel& kernel, const Lanes& lanes);

}  // namespace trigram::ptx
