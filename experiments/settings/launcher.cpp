#include "experiments/settings/launcher.hpp"

#include <array>
#include <cstdlib>

#include "core/error.hpp"

namespace trigram {
namespace {

/// The variables in which a launcher says how many processes it started, and which of them this is. `own` is one that
/// nobody else sets.
struct Dialect {
  const char* launcher;
  const char* own;
  const char* processes;
  const char* rank;
};

constexpr std::array dialects{Dialect{"mpirun", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
                              Dialect{"srun", "SLURM_STEP_NUM_TASKS", "SLURM_STEP_NUM_TASKS", "SLURM_PROCID"},
                              Dialect{"mpirun", "PMI_SIZE", "PMI_SIZE", "PMI_RANK"},
                              Dialect{"torchrun", "TORCHELASTIC_RUN_ID", "WORLD_SIZE", "RANK"}};

/// Empty where it is not set.
std::string value_of(const char* variable) {
  const char* value = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe): nobody writes the environment
  return value == nullptr ? "" : value;
}

}  // namespace

Launch launch() {
  for (const Dialect& dialect : dialects) {
    const int processes = std::atoi(value_of(dialect.processes).c_str());
    if (value_of(dialect.own).empty() || processes < 2) continue;
    return {dialect.launcher, dialect.processes + ("=" + std::to_string(processes)), processes,
            std::atoi(value_of(dialect.rank).c_str())};
  }
  return {};
}

void require_started_alone(const std::string& command, const std::string& instead) {
  const Launch launched = launch();
  require(launched.processes == 1, command, ": ", launched.launcher, " started ", launched.processes, " processes (",
          launched.sign, "), and each would do all of it; start it once, without ", launched.launcher,
          instead.empty() ? "" : ", or ", instead);
}

}  // namespace trigram
