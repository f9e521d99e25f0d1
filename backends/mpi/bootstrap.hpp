// What the launcher says in the environment.
#pragma once

#include <string>

namespace trigram::mpi {

/// Who started this process as one of several.
struct Launch {
  std::string launcher;  ///< "mpirun" or "srun"; empty where nobody says so
  int processes = 0;     ///< how many it started; 0: unknown
  int rank = -1;         ///< of this one; -1: unknown
};

/// Reads the variables of Open MPI, PMI and Slurm.
Launch launch_from_environment();

/// The command that starts `ranks` processes on one machine, for error messages.
std::string launch_command(int ranks);

}  // namespace trigram::mpi
