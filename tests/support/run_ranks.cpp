// The backends that every conformance test runs on: threads, and the simulator, which can do all of it.
#include "tests/support/run_ranks.hpp"

#include "tests/support/unsupported.hpp"

namespace trigram {

std::vector<std::string> tested_backends() {
  std::vector<std::string> backends{"threads:ranks_per_node=4"};
  if (Backends::has("sim")) {
    backends.emplace_back("sim:fidelity=exact");
    backends.emplace_back("sim:fidelity=fluid");
  }
  return backends;
}

namespace testing {

const std::vector<Unsupported>& unsupported() {
  static const std::vector<Unsupported> all{
      {"PhantomsGoThroughEverything", "threads", "only real data travel between real threads"}};
  return all;
}

}  // namespace testing
}  // namespace trigram
