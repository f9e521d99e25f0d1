#include "backends/mpi/duplicate.hpp"

#include "backends/mpi/check.hpp"

namespace trigram::mpi {

MPI_Comm duplicate_of_world() {
  MPI_Comm comm = MPI_COMM_NULL;
  check(MPI_Comm_dup(MPI_COMM_WORLD, &comm), "MPI_Comm_dup");
  return comm;
}

MPI_Comm part_of_world(int color, int key) {
  MPI_Comm comm = MPI_COMM_NULL;
  check(MPI_Comm_split(MPI_COMM_WORLD, color, key, &comm), "MPI_Comm_split");
  return comm;
}

}  // namespace trigram::mpi
