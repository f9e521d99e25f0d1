// The places that this executable trains in.
#include "tests/algorithms/worlds.hpp"

namespace trigram::testing {

std::vector<Place> all_places(int ranks_per_node) {
  std::vector<Place> places{{.name = "threads", .backend = threads(ranks_per_node)}};
  if (!Backends::has("sim")) return places;
  for (const char* fidelity : {"exact", "fluid"}) {
    places.push_back({.name = std::string("sim_") + fidelity, .backend = simulator(ranks_per_node, fidelity)});
  }
  return places;
}

}  // namespace trigram::testing
