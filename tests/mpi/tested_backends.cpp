// The conformance suites, on MPI.
#include "tests/support/run_ranks.hpp"

namespace trigram {

std::vector<std::string> tested_backends() {
  return {"mpi:timeout=60s", "mpi:timeout=60s,ranks_per_node=2,collectives=vendor"};
}

}  // namespace trigram
