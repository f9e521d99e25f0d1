#include "backends/mpi/duplicate.hpp"

#include "backends/mpi/check.hpp"
#include "backends/mpi/deadline.hpp"

namespace trigram::mpi {

MPI_Comm duplicate_of_world(double timeout) {
  const Deadline deadline("MPI_Comm_dup", timeout);
  MPI_Comm comm = MPI_COMM_NULL;
  check(MPI_Comm_dup(MPI_COMM_WORLD, &comm), "MPI_Comm_dup");
  return comm;
}

MPI_Comm part_of(MPI_Comm parent, int color, int key, double timeout) {
  const Deadline deadline("MPI_Comm_split", timeout);
  MPI_Comm comm = MPI_COMM_NULL;
  check(MPI_Comm_split(parent, color, key, &comm), "MPI_Comm_split");
  return comm;
}

}  // namespace trigram::mpi
