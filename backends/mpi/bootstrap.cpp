#include "backends/mpi/bootstrap.hpp"

#include <array>
#include <cstdlib>

namespace trigram::mpi {
namespace {

struct Sign {
  const char* launcher;
  const char* processes;
  const char* rank;
};

constexpr std::array signs{Sign{"mpirun", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
                           Sign{"srun", "SLURM_STEP_NUM_TASKS", "SLURM_PROCID"},
                           Sign{"mpirun", "PMI_SIZE", "PMI_RANK"}};

/// -1 where the environment does not say.
int number(const char* variable) {
  const char* value = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe): nobody writes the environment
  return value == nullptr ? -1 : std::atoi(value);
}

}  // namespace

Launch launch_from_environment() {
  for (const Sign& sign : signs) {
    const int processes = number(sign.processes);
    if (processes >= 0) return {sign.launcher, processes, number(sign.rank)};
  }
  return {};
}

std::string launch_command(int ranks) {
  return "mpirun -n " + std::to_string(ranks) + " --allow-run-as-root --oversubscribe --bind-to none trigram ...";
}

}  // namespace trigram::mpi
