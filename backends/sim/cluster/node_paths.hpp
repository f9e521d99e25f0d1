// Several unequal paths between nodes, and what a sender makes of them.
#pragma once

#include <vector>

#include "core/network/chunked_paths.hpp"
#include "core/registry/params.hpp"

namespace trigram::sim {

/// The paths of one NIC, and how a message is spread over them. In bytes per second, one way.
class NodePaths {
 public:
  explicit NodePaths(Params& params);

  /// What messages get of all paths together, where each gives `share` of its wire and at most `cap`; 0: no cap. From
  /// one common queue an idle path draws the next part, so that all are busy to the end; in equal shares each path has
  /// as much to carry as the slowest one.
  double bandwidth(double share, double cap) const;
  /// The same paths as single messages find them.
  ChunkedPaths chunked(double share, double cap) const { return {usable(share, cap), chunk_}; }

 private:
  std::vector<double> usable(double share, double cap) const;

  std::vector<double> wires_;  ///< by path
  bool equal_shares_ = false;  ///< else one common queue
  double chunk_ = 0;           ///< bytes that a path draws at once; 0: as few as it takes
};

}  // namespace trigram::sim
