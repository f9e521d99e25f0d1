// From measured times to the cluster that a simulation would need.
#pragma once

#include <string>
#include <vector>

#include "experiments/measure/alpha_beta.hpp"
#include "experiments/measure/device_probe.hpp"
#include "experiments/measure/network_probe.hpp"

namespace trigram {

/// What every rank measured.
struct ClusterSamples {
  std::vector<int> node_of_rank;
  std::vector<Pattern> patterns;
  ProbePlan plan;
  std::vector<std::vector<double>> network;  ///< by rank
  std::vector<DeviceTimes> device;           ///< by rank
};

/// A median over rounds, pairs and ranks, with all that it stands for.
struct MeasuredPoint {
  std::string name;
  TimedAmount median;
  double spread = 0;  ///< (longest − shortest) / median
};

/// Points and the line through them.
struct MeasuredLine {
  std::string name;
  std::vector<MeasuredPoint> points;
  AlphaBeta line;

  /// The largest absolute residual.
  double worst_residual() const;
};

/// Nodes, links and device rates, as the simulator's cost model has them.
struct MeasuredCluster {
  explicit MeasuredCluster(const ClusterSamples& samples);

  std::vector<int> ranks_of_node;
  std::vector<MeasuredLine> network;  ///< by pattern
  MeasuredLine memory, arithmetic;
  bool nic_per_gpu = false;

  /// The fit of a pattern; nullptr where there was no such pattern.
  const MeasuredLine* of(Pattern::Kind kind) const;

 private:
  std::vector<Pattern::Kind> kinds_;
};

/// The whole text of a cluster file. `origin` says where the figures come from, in a line.
std::string cluster_file(const MeasuredCluster& cluster, const std::string& origin);

}  // namespace trigram
