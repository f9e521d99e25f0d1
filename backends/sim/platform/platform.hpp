// The SimGrid platform of a cluster: a host for each rank's GPU, links with fair sharing and their real latencies.
#pragma once

#include <deque>
#include <simgrid/s4u.hpp>
#include <vector>

#include "backends/sim/cluster/cluster.hpp"

namespace trigram::sim {

/// A GPU computes this many of SimGrid's flops in a second at full speed: work is charged in seconds.
inline constexpr double work_per_second = 1e9;

/// The latency that SimGrid sees on every route, whatever the real one.
inline constexpr double base_latency = 1e-6;

/// What we know of a link beside SimGrid. SimGrid shares a link in inverse proportion to the latency of a flow's
/// route; so all routes get the same latency there, and this one is paid through the latency factor.
struct LinkState {
  double latency = 0;         ///< what a message pays on this link
  double bandwidth = 0;       ///< the present one, where it changes over time
  double handshake = 0;       ///< what a message of more than handshake_size bytes pays beside the latency
  double handshake_size = 0;  ///< bytes that links carry of the largest message that pays none

  double latency_of(double bytes) const { return latency + (bytes > handshake_size ? handshake : 0); }
};

/// Makes every message between hosts of the platform pay the real latency of its route.
void pay_real_latencies(simgrid::s4u::NetZone* root);

/// Built once, inside an Engine, before the first actor.
class Platform {
 public:
  Platform(const Cluster& cluster, int ranks);
  Platform(const Platform&) = delete;
  Platform& operator=(const Platform&) = delete;

  /// Hosts of ranks, in rank order.
  std::vector<simgrid::s4u::Host*> hosts;
  std::vector<int> node_of_rank;
  /// Where actors live that are nobody's rank.
  simgrid::s4u::Host* service = nullptr;
  /// What the platform cannot do as asked, as sentences.
  std::vector<std::string> warnings;

  /// Seconds before the first byte from one rank arrives at another, without a handshake.
  double latency(int from, int to) const;
  /// Seconds that a message of so many bytes waits before its first one leaves; 0 where it is not announced.
  double handshake(int from, int to, double bytes) const;
  /// Seconds that `rounds` messages of `bytes`, one after the other, take beyond what one flow of them all does: each
  /// later one its latency and the host's time, and handshakes, of which the flow, as one large message, has paid one
  /// at most. None is below zero: a flow of small messages that is as large as one with a handshake pays up to that
  /// much too much.
  double later_rounds(int from, int to, double bytes, int rounds) const;
  bool between_nodes(int a, int b) const {
    return node_of_rank[static_cast<std::size_t>(a)] != node_of_rank[static_cast<std::size_t>(b)];
  }
  /// Seconds of the sender's host for a message.
  double message_overhead(int from, int to) const {
    return message_overhead_ > 0 && between_nodes(from, to) ? message_overhead_ : 0;
  }
  /// Applies a change of a link now; a slow rank follows its own profile.
  void apply(const Change& change);
  /// Turns the links of a NIC off.
  void cut_nic(int node);
  /// The ranks of a node.
  std::vector<int> ranks_of(int node) const;
  /// The NIC that a rank's traffic between nodes crosses, as an index; see nic_node.
  int nic_of(int rank) const { return nic_per_gpu_ ? rank : node_of_rank[static_cast<std::size_t>(rank)]; }
  int nics() const { return nic_per_gpu_ ? static_cast<int>(hosts.size()) : node_of_rank.back() + 1; }

 private:
  using Link = simgrid::s4u::Link;
  using Zone = simgrid::s4u::NetZone;

  void build(const Cluster& cluster);
  void load(const Cluster& cluster, int ranks);
  bool equalise_latencies(const std::vector<simgrid::s4u::Host*>& ends);
  void add_leaf(Zone* root, const Cluster& cluster, int leaf);
  void add_node(Zone* zone, const Cluster& cluster, int node);
  Link* add_link(Zone* zone, const std::string& name, double bandwidth, double latency, bool entry);
  Link* add_changing_link(Zone* zone, const std::string& name, double bandwidth, double most, double latency,
                          bool entry);
  simgrid::s4u::Host* add_host(Zone* zone, const Cluster& cluster, int rank);

  bool nic_per_gpu_ = false;
  double message_overhead_ = 0;
  bool has_handshakes_ = false;
  ChunkedPaths nic_paths_;
  std::deque<LinkState> states_;
  std::vector<std::vector<Link*>> nic_links_;   ///< by node: up and down links
  std::vector<std::vector<Link*>> node_links_;  ///< by rank: up and down links
};

}  // namespace trigram::sim
