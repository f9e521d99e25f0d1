// New MPI communicators.
#pragma once

#include "processes/mpi_library.hpp"

namespace trigram::mpi {

/// Another communicator of all ranks, whose messages match its own only; collective. The process ends when others do
/// not come within `timeout` seconds, 0: forever.
MPI_Comm duplicate_of_world(double timeout);

/// The ranks of `parent` that give the same color, in the order of (key, rank); collective. The same of `timeout`.
MPI_Comm part_of(MPI_Comm parent, int color, int key, double timeout);

}  // namespace trigram::mpi
