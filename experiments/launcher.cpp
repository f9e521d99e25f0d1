#include "experiments/launcher.hpp"

#include <array>
#include <cstdlib>

namespace trigram {

int launched_rank() {
  constexpr std::array variables{"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"};
  for (const char* variable : variables) {
    const char* value = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe): nobody writes the environment
    if (value != nullptr) return std::atoi(value);
  }
  return 0;
}

}  // namespace trigram
