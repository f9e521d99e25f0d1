// Holds a topology to what every method relies on.
//   peers     in ascending order, without duplicates and the vertex itself; who sends is heard
//   weights   none is negative, rows and columns sum to 1 as declared, W is symmetric unless the graph is directed
//   mixing    over a period, what one vertex has reaches every other, in as many steps as that takes
//   schedule  W repeats after `period` steps; the spectral gap is from 0 to 1
#pragma once

#include <string>
#include <vector>

#include "core/conformance/finding.hpp"
#include "core/world/placement.hpp"

namespace trigram {

/// What came of one number of vertices.
struct TriedTopology {
  int size = 1;
  std::string refusal;  ///< why the graph cannot have so many; empty: it has
  double spectral_gap = 0;
  std::vector<Violation> violations;
};

/// Throws UsageError for what no topology accepts.
TriedTopology try_topology(const std::string& spec, const Vertices& vertices);

}  // namespace trigram
