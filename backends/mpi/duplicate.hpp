// New MPI communicators.
#pragma once

#include <mpi.h>

namespace trigram::mpi {

/// Another communicator of all ranks, whose messages match its own only; collective.
MPI_Comm duplicate_of_world();

/// The group of the ranks that give the same color, in the order of (key, rank); collective.
MPI_Comm part_of_world(int color, int key);

}  // namespace trigram::mpi
