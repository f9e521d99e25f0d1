// Holds a topology to what every method relies on.
//   peers     in ascending order, without duplicates and the vertex itself; who sends is heard
//   weights   none is negative, rows and columns sum to 1, W is symmetric unless the graph is directed
//   schedule  W repeats after `period` steps; the spectral gap is from 0 to 1
#pragma once

#include <string>
#include <vector>

#include "core/conformance/finding.hpp"

namespace trigram {

/// What came of one size.
struct TriedTopology {
  int size = 1;
  std::string refusal;  ///< why the graph cannot have that size; empty: it has
  double spectral_gap = 0;
  std::vector<Violation> violations;
};

/// Throws UsageError for what no topology accepts.
TriedTopology try_topology(const std::string& spec, int size);

}  // namespace trigram
