// From measured times to the cluster that a simulation would need.
#pragma once

#include <string>
#include <vector>

#include "experiments/measure/alpha_beta.hpp"
#include "experiments/measure/message_terms.hpp"
#include "experiments/measure/probes/codec_probe.hpp"
#include "experiments/measure/probes/contention_probe.hpp"
#include "experiments/measure/probes/device_probe.hpp"
#include "experiments/measure/probes/network_probe.hpp"
#include "experiments/measure/probes/posted_probe.hpp"

namespace trigram {

/// What every rank measured.
struct ClusterSamples {
  std::vector<int> node_of_rank;
  std::vector<Pattern> patterns;
  ProbePlan plan;
  std::vector<std::vector<double>> network;              ///< by rank
  std::vector<DeviceTimes> device;                       ///< by rank
  std::vector<CodecOperation> operations;                ///< of codecs
  std::vector<std::vector<double>> codecs;               ///< by rank
  std::vector<std::vector<PostedTimes>> posted;          ///< by rank
  std::vector<std::vector<ContentionTimes>> contention;  ///< by rank
};

/// A median over rounds, pairs and ranks, with all that it stands for.
struct MeasuredPoint {
  std::string name;
  TimedAmount median;
  double spread = 0;  ///< (longest − shortest) / median
  double fitted = 0;  ///< seconds

  double residual() const { return fitted / median.seconds - 1; }
};

/// What was measured of one thing, by amount.
struct MeasuredPoints {
  std::string name;
  std::vector<MeasuredPoint> points;

  /// The largest absolute residual.
  double worst_residual() const;
};

/// Points and the line through them.
struct MeasuredLine : MeasuredPoints {
  AlphaBeta line;
};

/// Points of messages, and what limits these.
struct MeasuredMessages : MeasuredPoints {
  MessageTerms terms;
};

/// How many times as long as alone kernels take beside something else: the median of all ranks and rounds.
struct Slowdown {
  double times = 1;
  bool at_least = false;  ///< the other lane was done before the kernels in half of the rounds or more
};

/// Nodes, links and device rates, as the simulator's cost model has them.
struct MeasuredCluster {
  explicit MeasuredCluster(const ClusterSamples& samples);

  std::vector<int> ranks_of_node;
  std::vector<MeasuredMessages> network;  ///< by pattern
  MeasuredLine memory, arithmetic;
  std::vector<MeasuredLine> codecs;  ///< by operation, named "top_k/encode"; amounts are elements
  bool nic_per_gpu = false;
  /// Bytes/s of one connection through a shared NIC that carries more of several; 0 where none was seen to be limited.
  double connection_cap = 0;
  double nic_bandwidth = 0;     ///< bytes/s, of all connections; 0 without several nodes
  double message_overhead = 0;  ///< seconds of the sender's host for each message of one exchange; 0: not of note
  Slowdown beside_collectives, beside_codecs;
  double idle_link = 0, busy_link = 0;  ///< seconds of an empty message between nodes; 0 without several

  /// The fit of a pattern; nullptr where there was no such pattern.
  const MeasuredMessages* of(Pattern::Kind kind) const;

 private:
  void fit_network(const ClusterSamples& samples);
  void judge_connections();

  std::vector<Pattern::Kind> kinds_;
};

/// The whole text of a cluster file. `origin` says where the figures come from, in a line.
std::string cluster_file(const MeasuredCluster& cluster, const std::string& origin);

}  // namespace trigram
