// The backends that every communicator test runs on.
#include "tests/support/run_ranks.hpp"

namespace trigram {

std::vector<std::string> tested_backends() {
  std::vector<std::string> backends{"threads"};
  if (Backends::has("sim")) {
    backends.emplace_back("sim:fidelity=exact");
    backends.emplace_back("sim:fidelity=fluid");
  }
  return backends;
}

}  // namespace trigram
