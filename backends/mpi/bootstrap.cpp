#include "backends/mpi/bootstrap.hpp"

#include "processes/launcher_variables.hpp"

namespace trigram::mpi {

Launch launch_from_environment() {
  for (const LauncherVariables& variables : launcher_variables) {
    const int processes = environment_number(variables.ranks, -1);
    if (variables.starts_mpi && processes >= 0)
      return {variables.launcher, processes, environment_number(variables.rank, -1)};
  }
  return {};
}

std::string launch_command(int ranks) {
  return "mpirun -n " + std::to_string(ranks) + " --allow-run-as-root --oversubscribe --bind-to none trigram ...";
}

}  // namespace trigram::mpi
