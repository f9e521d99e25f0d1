// Memory that MPI may still be at work on after an exchange has failed.
#pragma once

#include <memory>

#include "core/device/kernels.hpp"

namespace trigram::mpi {

/// The processor's kernels. Their memory is given back until `keep_memory` is called, and kept from then on.
std::shared_ptr<Kernels> kernels_of_this_process();

/// MPI has not ended an operation that nobody waits for any more: what it reads and writes stays until the process
/// ends.
void keep_memory();

}  // namespace trigram::mpi
