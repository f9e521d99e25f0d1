// The cluster that a simulation models, as its parameters describe it.
#pragma once

#include <string>
#include <vector>

#include "backends/sim/cluster/codec_rates.hpp"
#include "backends/sim/cluster/events.hpp"
#include "backends/sim/cluster/expenses.hpp"
#include "core/lane/all_reduce.hpp"
#include "core/network/chunked_paths.hpp"
#include "core/network/connections.hpp"
#include "core/registry/params.hpp"

namespace trigram::sim {

/// Nodes of GPUs behind NICs. Bandwidths in bytes per second one way (every link is full duplex), times in seconds.
/// Traffic inside a node crosses the node links of both GPUs, traffic between nodes the NICs of both ends.
struct Cluster {
  explicit Cluster(Params& params);

  std::vector<int> gpus;        ///< by node
  bool nic_per_gpu = false;     ///< else one NIC, shared by the GPUs of a node
  double nic_bandwidth = 0;     ///< usable: min(bandwidth · efficiency, cap), of all its paths as messages use them
  double nic_data_sheet = 0;    ///< bandwidth without efficiency and cap
  ChunkedPaths nic_paths;       ///< of a NIC, as single messages find them
  double nic_latency = 0;       ///< of a message between two nodes, end to end
  double nic_handshake = 0;     ///< added where the message is larger than handshake_size
  double handshake_size = 0;    ///< bytes
  double nic_burst = 0;         ///< bytes that find a NIC unshaped after it was idle; 0: it is not shaped
  double nic_line_rate = 0;     ///< of a NIC that is not shaped now
  Connections connections;      ///< between ranks of different nodes
  double message_overhead = 0;  ///< of the sender's host, for each message to another node
  double call_overhead = 0;     ///< of a rank's host, for each collective
  double step_overhead = 0;     ///< of a rank's host, for each training step
  double node_bandwidth = 0;    ///< of a GPU inside its node, usable: bandwidth · efficiency
  double node_data_sheet = 0;   ///< the same without efficiency
  double node_latency = 0;      ///< of a message inside a node, end to end
  bool fat_tree = false;        ///< leaf switches under a core, else one switch that never limits
  int leaf_nodes = 0;           ///< nodes under one leaf switch
  double oversubscription = 1;  ///< NIC bandwidth under a leaf over the bandwidth of its uplinks
  double core_latency = 0;      ///< added between leaves
  double gpu_flops = 0;
  double gpu_memory_bandwidth = 0;
  double kernel_launch = 0;
  double compute_slowdown = 1;  ///< of kernels while their rank is in a collective
  CodecRates codec_rates;       ///< measured speeds of codecs; the others have those of the GPU
  Expenses expenses;            ///< in joules and in dollars
  std::vector<Slow> slow;
  std::vector<Change> changes;  ///< by time; those that outages bring are among them
  std::vector<Fault> faults;
  std::vector<Background> background;
  std::string platform;    ///< a SimGrid platform file instead of nodes and links; empty: none
  int ranks_per_node = 0;  ///< 0: all GPUs of a node (one rank a node on a platform file)
  bool fluid = false;
  double timeout = 0;  ///< simulated seconds that one operation may block; 0: as long as it takes

  /// Where each rank lives; ranks fill nodes in order. Throws UsageError when they do not fit.
  std::vector<int> nodes_of(int ranks) const;
  /// How many times as long as alone a rank's kernels take at first.
  double slowness(int rank) const;
  /// All GPUs; on a platform file its hosts are counted by whoever has read it, and this is 0.
  int default_ranks() const;
  /// Whether the links inside nodes are alike and stay so.
  bool alike_in_nodes() const;
  /// Whether those between nodes are too, and carry nothing but what ranks send.
  bool alike_between_nodes() const;
  /// What data sheets say of them; nothing on a platform file.
  Links links() const;
  /// Given keys that cannot influence a run of so many ranks, as sentences.
  std::vector<std::string> warnings(int ranks) const;

 private:
  void read_nodes(Params& params);
  void read_links(Params& params);
  void read_burst(Params& params);
  void check_burst() const;
  void read_connections(Params& params);
  void read_host(Params& params);
  void read_topology(Params& params);
  void read_gpu(Params& params);
  void read_events(Params& params);
  void read_run(Params& params);
  void check_targets() const;
  std::vector<Change> changes_with_outages() const;
  void refuse_events_of_links(const Params& params) const;
  int ranks_on(std::size_t node) const;
  /// Throws UsageError for the first of the keys that were given.
  void refuse(const std::vector<std::string>& keys, const char* reason) const;

  std::string owner_;  ///< of the parameters, for messages
  std::vector<Change> given_changes_;
  std::vector<Outage> outages_;
  std::vector<std::string> given_nic_keys_, given_host_keys_, given_gpu_keys_, given_node_keys_, given_leaf_keys_,
      given_transfer_keys_;
};

}  // namespace trigram::sim
