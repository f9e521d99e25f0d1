#include "experiments/launcher.hpp"

#include <array>
#include <cstdlib>

namespace trigram {
namespace {

const char* value_of(const char* variable) {
  return std::getenv(variable);  // NOLINT(concurrency-mt-unsafe): nobody writes the environment
}

}  // namespace

int launched_rank() {
  constexpr std::array variables{"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"};
  // A name as plain as torchrun's counts only beside its other half.
  if (value_of("RANK") != nullptr && value_of("WORLD_SIZE") != nullptr) return std::atoi(value_of("RANK"));
  for (const char* variable : variables) {
    if (const char* value = value_of(variable)) return std::atoi(value);
  }
  return 0;
}

}  // namespace trigram
