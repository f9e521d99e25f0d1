// Builds the platform of a cluster: stars of nodes, with direct routes inside a node.
#include "backends/sim/platform/platform.hpp"

#include <algorithm>
#include <cmath>
#include <simgrid/kernel/ProfileBuilder.hpp>
#include <unordered_set>

#include "backends/sim/engine/simgrid_version.hpp"
#include "core/values/error.hpp"

namespace trigram::sim {

namespace {

namespace sg = simgrid::s4u;

/// The least real latency: with none at all, SimGrid would let a flow weigh differently from all others.
constexpr double no_latency = 1e-12;

LinkState& state_of(const sg::Link* link) { return *link->get_data<LinkState>(); }

double route_latency(const std::vector<sg::Link*>& links, double bytes) {
  double sum = 0;
  for (const sg::Link* link : links) sum += state_of(link).latency_of(bytes);
  return std::max(sum, no_latency);
}

/// The highest value that a quantity of `target` ever has, `initial` included.
double highest(const Cluster& cluster, Change::Quantity quantity, int target, double initial) {
  for (const Change& change : cluster.changes) {
    if (change.quantity == quantity && change.target == target) initial = std::max(initial, change.value);
  }
  return initial;
}

bool changes(const Cluster& cluster, Change::Quantity quantity, int target) {
  return std::any_of(cluster.changes.begin(), cluster.changes.end(),
                     [&](const Change& change) { return change.quantity == quantity && change.target == target; });
}

/// Speeds of `rank` over time, relative to its fastest.
simgrid::kernel::profile::Profile* speed_profile(const Cluster& cluster, int rank, double least_slow) {
  std::string text = "0 " + number_text(least_slow / cluster.slowness(rank)) + "\n";
  for (const Change& change : cluster.changes) {
    if (change.quantity != Change::Quantity::slow || change.target != rank) continue;
    text += number_text(change.time) + " " + number_text(least_slow / change.value) + "\n";
  }
  return simgrid::kernel::profile::ProfileBuilder::from_string("speed of rank " + std::to_string(rank), text, -1);
}

}  // namespace

// real latency = base latency · factor
void pay_real_latencies(sg::NetZone* root) {
  set_latency_factor(
      root, [](double bytes, const sg::Host*, const sg::Host*, const std::vector<sg::Link*>& links,
               const std::unordered_set<sg::NetZone*>&) { return route_latency(links, bytes) / base_latency; });
}

Platform::Platform(const Cluster& cluster, int ranks)
    : node_of_rank(cluster.nodes_of(ranks)),
      nic_per_gpu_(cluster.nic_per_gpu),
      message_overhead_(cluster.message_overhead),
      has_handshakes_(cluster.nic_handshake > 0),
      nic_paths_(cluster.nic_paths) {
  if (cluster.platform.empty()) {
    build(cluster);
  } else {
    load(cluster, ranks);
  }
}

void Platform::build(const Cluster& cluster) {
  sg::NetZone* root = outermost_star("cluster");
  pay_real_latencies(root);
  const int nodes = node_of_rank.back() + 1;
  nic_links_.resize(static_cast<std::size_t>(nodes));
  if (cluster.fat_tree) {
    for (int leaf = 0; leaf * cluster.leaf_nodes < nodes; ++leaf) add_leaf(root, cluster, leaf);
  } else {
    for (int node = 0; node < nodes; ++node) add_node(root, cluster, node);
  }
  service = root->create_host("service", work_per_second);
  root->seal();
}

void Platform::add_leaf(Zone* root, const Cluster& cluster, int leaf) {
  const std::string name = "leaf " + std::to_string(leaf);
  const int nodes = node_of_rank.back() + 1;
  const int first = leaf * cluster.leaf_nodes;
  Zone* zone = inner_star(root, name);
  simgrid::kernel::routing::NetPoint* gateway = zone->create_router(name + " switch");
  int nics = 0;
  for (int node = first; node < std::min(nodes, first + cluster.leaf_nodes); ++node) {
    add_node(zone, cluster, node);
    nics += nic_per_gpu_ ? static_cast<int>(ranks_of(node).size()) : 1;
  }
  // What the leaf's NICs could send together, all nodes counted, over the oversubscription.
  const double bandwidth = cluster.nic_bandwidth * nics / cluster.oversubscription;
  Link* up = add_link(root, name + " up", bandwidth, cluster.core_latency / 2, false);
  Link* down = add_link(root, name + " down", bandwidth, cluster.core_latency / 2, false);
  root->add_route(zone->get_netpoint(), nullptr, gateway, nullptr, {sg::LinkInRoute(up)}, false);
  root->add_route(nullptr, zone->get_netpoint(), nullptr, gateway, {sg::LinkInRoute(down)}, false);
  zone->seal();
}

void Platform::add_node(Zone* zone, const Cluster& cluster, int node) {
  using Quantity = Change::Quantity;
  const std::vector<int> ranks = ranks_of(node);
  std::vector<Link*>& nic = nic_links_[static_cast<std::size_t>(node)];
  const auto add_pair = [&](std::vector<Link*>& links, const std::string& name, Quantity quantity, int target,
                            double bandwidth, double latency) {
    const double most = highest(cluster, quantity, target, bandwidth);
    const bool changing = changes(cluster, quantity, target);
    for (const bool up : {true, false}) {
      const std::string full = name + std::to_string(links.size()) + (up ? " up" : " down");
      links.push_back(changing ? add_changing_link(zone, full, bandwidth, most, latency / 2, up)
                               : add_link(zone, full, bandwidth, latency / 2, up));
    }
  };
  const std::string nic_name = "nic " + std::to_string(node) + ".";
  for (const int rank : ranks) {
    if (nic.empty() || nic_per_gpu_) {
      add_pair(nic, nic_name, Quantity::nic_bandwidth, node, cluster.nic_bandwidth, cluster.nic_latency);
      for (auto link = nic.end() - 2; link != nic.end(); ++link) {
        state_of(*link).handshake = cluster.nic_handshake / 2;
        state_of(*link).handshake_size = nic_paths_.occupied(cluster.handshake_size);
      }
    }
    sg::Host* host = add_host(zone, cluster, rank);
    zone->add_route(host->get_netpoint(), nullptr, nullptr, nullptr, {sg::LinkInRoute(nic[nic.size() - 2])}, false);
    zone->add_route(nullptr, host->get_netpoint(), nullptr, nullptr, {sg::LinkInRoute(nic.back())}, false);
    node_links_.emplace_back();
    if (ranks.size() > 1) {
      add_pair(node_links_.back(), "gpu " + std::to_string(rank) + ".", Quantity::node_bandwidth, rank,
               cluster.node_bandwidth, cluster.node_latency);
    }
  }
  for (const int a : ranks) {
    for (const int b : ranks) {
      if (a == b) continue;
      const auto from = static_cast<std::size_t>(a), to = static_cast<std::size_t>(b);
      zone->add_bypass_route(hosts[from]->get_netpoint(), hosts[to]->get_netpoint(), nullptr, nullptr,
                             {sg::LinkInRoute(node_links_[from][0]), sg::LinkInRoute(node_links_[to][1])});
    }
  }
}

Platform::Link* Platform::add_link(Zone* zone, const std::string& name, double bandwidth, double latency, bool entry) {
  Link* link = zone->create_link(name, bandwidth)->set_latency(entry ? base_latency : 0);
  states_.push_back({.latency = latency, .bandwidth = bandwidth});
  link->set_data(&states_.back());
  return link;
}

Platform::Link* Platform::add_changing_link(Zone* zone, const std::string& name, double bandwidth, double most,
                                            double latency, bool entry) {
  // A flow never exceeds what the links of its route had when it began; so the link has its highest bandwidth for
  // SimGrid, and the present one as a sharing function.
  Link* link = add_link(zone, name, most, latency, entry);
  LinkState& state = state_of(link);
  state.bandwidth = bandwidth;
  link->set_sharing_policy(Link::SharingPolicy::NONLINEAR, [&state](double, int) { return state.bandwidth; });
  return link;
}

sg::Host* Platform::add_host(Zone* zone, const Cluster& cluster, int rank) {
  double least_slow = cluster.slowness(rank);
  for (const Change& change : cluster.changes) {
    if (change.quantity == Change::Quantity::slow && change.target == rank)
      least_slow = std::min(least_slow, change.value);
  }
  const double speed = work_per_second / least_slow;
  std::vector<double> speeds{speed};
  if (cluster.compute_slowdown > 1) speeds.push_back(speed / cluster.compute_slowdown);
  sg::Host* host = zone->create_host("gpu " + std::to_string(rank), speeds);
  if (changes(cluster, Change::Quantity::slow, rank)) host->set_speed_profile(speed_profile(cluster, rank, least_slow));
  hosts.push_back(host);
  return host;
}

std::vector<int> Platform::ranks_of(int node) const {
  std::vector<int> ranks;
  const auto range = std::equal_range(node_of_rank.begin(), node_of_rank.end(), node);
  for (auto at = range.first; at != range.second; ++at) ranks.push_back(static_cast<int>(at - node_of_rank.begin()));
  return ranks;
}

double Platform::latency(int from, int to) const {
  std::vector<Link*> links;
  double native = 0;
  hosts[static_cast<std::size_t>(from)]->route_to(hosts[static_cast<std::size_t>(to)], links, &native);
  return states_.empty() ? native : route_latency(links, 0);
}

double Platform::handshake(int from, int to, double bytes) const {
  if (!has_handshakes_) return 0;
  std::vector<Link*> links;
  hosts[static_cast<std::size_t>(from)]->route_to(hosts[static_cast<std::size_t>(to)], links, nullptr);
  return route_latency(links, nic_paths_.occupied(bytes)) - route_latency(links, 0);
}

double Platform::later_rounds(int from, int to, double bytes, int rounds) const {
  const double handshakes = rounds * handshake(from, to, bytes) - handshake(from, to, rounds * bytes);
  return std::max(0.0, (rounds - 1) * (latency(from, to) + message_overhead(from, to)) + handshakes);
}

void Platform::apply(const Change& change) {
  using Quantity = Change::Quantity;
  if (change.quantity == Quantity::slow) return;
  const bool of_nic = change.quantity == Quantity::nic_bandwidth || change.quantity == Quantity::nic_latency;
  const bool bandwidth = change.quantity == Quantity::nic_bandwidth || change.quantity == Quantity::node_bandwidth;
  for (Link* link : (of_nic ? nic_links_ : node_links_)[static_cast<std::size_t>(change.target)]) {
    if (bandwidth) {
      state_of(link).bandwidth = change.value;
      link->set_bandwidth(link->get_bandwidth());  // makes SimGrid share anew
    } else {
      state_of(link).latency = change.value / 2;
    }
  }
}

void Platform::cut_nic(int node) {
  for (Link* link : nic_links_[static_cast<std::size_t>(node)]) link->turn_off();
}

}  // namespace trigram::sim
