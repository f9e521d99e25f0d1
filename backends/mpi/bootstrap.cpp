#include "backends/mpi/bootstrap.hpp"

#include <array>
#include <cstdlib>

namespace trigram::mpi {
namespace {

struct Sign {
  const char* variable;
  const char* launcher;
};

constexpr std::array signs{Sign{"OMPI_COMM_WORLD_SIZE", "mpirun"}, Sign{"SLURM_STEP_NUM_TASKS", "srun"},
                           Sign{"PMI_SIZE", "mpirun"}};

}  // namespace

Launch launch_from_environment() {
  for (const Sign& sign : signs) {
    const char* value = std::getenv(sign.variable);  // NOLINT(concurrency-mt-unsafe): nobody writes the environment
    if (value != nullptr) return {sign.launcher, std::atoi(value)};
  }
  return {};
}

std::string launch_command(int ranks) {
  return "mpirun -n " + std::to_string(ranks) + " --allow-run-as-root --oversubscribe --bind-to none trigram ...";
}

}  // namespace trigram::mpi
