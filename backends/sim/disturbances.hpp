// What disturbs a simulated run as its cluster says: planned changes, faults, and traffic of others.
#pragma once

#include <vector>

#include "backends/sim/platform/platform.hpp"
#include "backends/sim/watch.hpp"

namespace trigram::sim {

class Disturbances {
 public:
  Disturbances(const Cluster& cluster, Platform& platform, int lanes, Failures& failures, Watch& watch)
      : cluster_(cluster), platform_(platform), lanes_(lanes), failures_(failures), watch_(watch) {}

  /// Starts their actors, beside those of ranks.
  void start();

 private:
  int ranks() const { return static_cast<int>(platform_.node_of_rank.size()); }
  int nodes() const { return platform_.node_of_rank.back() + 1; }
  void start_changes();
  void start_faults();
  void start_background();
  void strike(const Fault& fault);
  void report_waiting_for(const std::vector<int>& gone);

  const Cluster& cluster_;
  Platform& platform_;
  const int lanes_;
  Failures& failures_;
  Watch& watch_;
};

}  // namespace trigram::sim
