// Only real bytes travel by MPI.
#pragma once

#include "core/real_data.hpp"

namespace trigram::mpi {

/// Throws UsageError for a phantom buffer.
inline void require_data(const Buffer& buffer) { trigram::require_data(buffer, "mpi"); }

}  // namespace trigram::mpi
