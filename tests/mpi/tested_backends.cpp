// The conformance suites, on MPI, and what it does not do.
#include "tests/algorithms/worlds.hpp"
#include "tests/support/run_ranks.hpp"
#include "tests/support/unsupported.hpp"

namespace trigram {

std::vector<std::string> tested_backends() {
  return {"mpi:timeout=60s", "mpi:timeout=60s,ranks_per_node=2,collectives=vendor"};
}

namespace testing {

std::vector<Place> all_places(int ranks_per_node) {
  const std::string mpi = "mpi:timeout=60s,ranks_per_node=" + std::to_string(ranks_per_node);
  return {{"mpi", mpi, true}, {"mpi_vendor", mpi + ",collectives=vendor", false}};
}

const std::vector<Unsupported>& unsupported() {
  static const std::vector<Unsupported> all{
      {"AFailingRankReleasesTheOthersAndKeepsItsTypeAndText", "", "a rank that fails ends the job; see failing jobs"},
      {"AnErrorNextToABlockedLaneEndsTheRun", "", "a rank that fails ends the job; see failing jobs"},
      {"AServiceThatFailsEndsTheRunWithItsOwnError", "", "a rank that fails ends the job; see failing jobs"},
      {"PhantomsGoThroughEverything", "", "only real data travel on a real network"},
      {"IdenticalBitsOnEveryBackend", "collectives=vendor", "the library adds in an order of its own"},
      {"RingAddsRanksInTheDocumentedOrder", "collectives=vendor", "the library adds in an order of its own"},
  };
  return all;
}

}  // namespace testing
}  // namespace trigram
