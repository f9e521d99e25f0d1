// The conformance suites, on ranks that our net plugin connects, and what these do not do.
#include "meeting/member.hpp"
#include "tests/algorithms/worlds.hpp"
#include "tests/support/run_ranks.hpp"
#include "tests/support/unsupported.hpp"

namespace trigram {

std::vector<std::string> tested_backends() { return {"net:timeout=60s"}; }

namespace testing {

std::vector<Place> all_places(int ranks_per_node) {
  return {{"net", "net:timeout=60s,ranks_per_node=" + std::to_string(ranks_per_node), true}};
}

const std::vector<Unsupported>& unsupported() {
  static const std::vector<Unsupported> all{
      {"PhantomsGoThroughEverything", "", "only real data travel on a real network"}};
  return all;
}

}  // namespace testing
}  // namespace trigram
