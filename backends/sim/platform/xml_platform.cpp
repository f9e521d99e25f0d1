// Reads a SimGrid platform file and makes its sharing fair where its routes allow it.
#include <algorithm>
#include <cmath>

#include "backends/sim/platform/platform.hpp"
#include "backends/sim/platform/routes.hpp"
#include "core/values/error.hpp"
#include "core/values/quoted.hpp"

namespace trigram::sim {

namespace sg = simgrid::s4u;

void Platform::load(const Cluster& cluster, int ranks) {
  sg::Engine& engine = *sg::Engine::get_instance();
  try {
    engine.load_platform(cluster.platform);
    engine.get_netzone_root()->seal();  // some kinds of routing find their routes then
  } catch (const std::exception& error) {
    throw UsageError("platform file " + in_quotes(cluster.platform) + ": " + error.what());
  }
  const std::vector<sg::Host*> all = engine.get_all_hosts();
  require(static_cast<std::size_t>(ranks) <= all.size(), "platform file ", Quoted(cluster.platform), " has ",
          all.size(), " hosts for ", ranks, " ranks");
  hosts.assign(all.begin(), all.begin() + ranks);
  service = all.back();
  nic_links_.resize(static_cast<std::size_t>(node_of_rank.back()) + 1);
  node_links_.resize(hosts.size());
  if (!equalise_latencies(hosts)) {
    warnings.push_back("routes of '" + cluster.platform +
                       "' cannot be given one latency: flows that share a link share it in inverse proportion to the "
                       "latency of their routes");
  }
}

bool Platform::equalise_latencies(const std::vector<sg::Host*>& ends) {
  sg::Engine& engine = *sg::Engine::get_instance();
  const std::vector<sg::Link*> links = engine.get_all_links();
  std::vector<double> real;
  for (sg::Link* link : links) real.push_back(link->get_latency());
  const auto restore = [&] {
    for (std::size_t i = 0; i < links.size(); ++i) links[i]->set_latency(real[i]);
    return false;
  };
  // Half of the base latency where a route begins, half where it ends: right for private links of any kind.
  for (sg::Link* link : links) link->set_latency(0);
  bool possible = true;
  each_pair(ends, [&](const sg::Host* a, const sg::Host* b) {
    double latency = 0;
    const std::vector<sg::Link*> path = route(a, b, &latency);
    possible = possible && path.size() > 1;
    if (!possible) return;
    path.front()->set_latency(base_latency / 2);
    path.back()->set_latency(base_latency / 2);
  });
  if (!possible) return restore();
  each_pair(ends, [&](const sg::Host* a, const sg::Host* b) {
    double latency = 0;
    route(a, b, &latency);
    possible = possible && std::abs(latency - base_latency) < 1e-3 * base_latency;
  });
  if (!possible) return restore();
  for (std::size_t i = 0; i < links.size(); ++i) {
    states_.push_back({.latency = real[i], .bandwidth = links[i]->get_bandwidth()});
    links[i]->set_data(&states_.back());
  }
  pay_real_latencies(engine.get_netzone_root());
  return true;
}

}  // namespace trigram::sim
