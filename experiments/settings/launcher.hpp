// This process's place among those that one launcher started together.
#pragma once

#include <string>

namespace trigram {

/// One process of several.
struct Launch {
  std::string launcher;  ///< "mpirun", "srun" or "torchrun"; empty where this process was started alone
  std::string sign;      ///< the variable that says so: "OMPI_COMM_WORLD_SIZE=4"
  int processes = 1;
  int rank = 0;
};

/// Reads the variables of Open MPI, PMI, Slurm and torchrun. Jobs of one process count as started alone, and so do bare
/// RANK and WORLD_SIZE, which the pods of a cluster have in their environment whatever is started in them.
Launch launch();

/// Throws UsageError where `command` was started several times at once, each of which would do all of it. `instead` is
/// what else could be meant.
void require_started_alone(const std::string& command, const std::string& instead = "");

/// Forgets who was started together with this process, for one that has work of its own whatever the others do.
void count_as_started_alone();

}  // namespace trigram
