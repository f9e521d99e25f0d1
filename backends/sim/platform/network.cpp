#include "backends/sim/platform/network.hpp"

#include <algorithm>
#include <cmath>

namespace trigram::sim {

namespace sg = simgrid::s4u;

namespace {

/// Of a latency; rounds whose times differ by less are alike.
constexpr double rounding = 1e-9;

/// Of its connections: what stands for messages to many ranks has some of its own.
std::uint64_t key_of(const Load& load) {
  const auto number = [](int rank) { return static_cast<std::uint64_t>(rank); };
  return number(load.from) << 32U | number(load.to) << 1U | (load.together > 1 ? 1U : 0U);
}

/// Bytes of one of its messages.
double message_of(const Load& load) { return static_cast<double>(load.bytes) / (load.rounds * load.together); }

}  // namespace

Network::Network(const Cluster& cluster, const Platform& platform)
    : platform_(platform),
      connections_(cluster.connections),
      paths_(cluster.nic_paths),
      wire_(std::max(cluster.nic_bandwidth, cluster.nic_line_rate)),
      shaped_(cluster.nic_bandwidth),
      unlimited_(!connections_.limit() && cluster.nic_burst == 0 && !paths_.limit()),
      each_takes_time_(cluster.message_overhead > 0 || cluster.nic_handshake > 0) {
  const TokenBucket::Shape shape{cluster.nic_burst, cluster.nic_bandwidth, cluster.nic_line_rate};
  if (cluster.nic_burst > 0) buckets_.assign(static_cast<std::size_t>(platform.nics()), TokenBucket(shape));
}

Terms Network::admit_limited(const Load& load) {
  if (!platform_.between_nodes(load.from, load.to)) return {static_cast<double>(load.bytes)};
  return admit_between_nodes(load, platform_.latency(load.from, load.to));
}

// Links tell announced messages by what they carry, which a burst may leave below the limit.
Terms Network::admit_between_nodes(const Load& load, double latency) {
  Terms terms{carried(load) - let_through(load, latency), seconds_of(load, latency)};
  if (buckets_.empty()) return terms;
  const double message = message_of(load);
  const double not_paid =
      platform_.handshake(load.from, load.to, message) - platform_.handshake(load.from, load.to, terms.bytes);
  if (not_paid > 0) terms.seconds = std::max(terms.seconds, terms.bytes / shaped_) + not_paid;
  return terms;
}

// A message has all paths until the last of its chunks is through: others whose chunks wait leave the same ones idle.
double Network::carried(const Load& load) const {
  return paths_.limit() ? load.rounds * load.together * paths_.occupied(message_of(load))
                        : static_cast<double>(load.bytes);
}

// The first round meets the connections as they are, and each later one as those before have left them.
double Network::seconds_of(const Load& load, double latency) {
  if (!connections_.limit()) return 0;
  const double bytes = message_of(load);
  const Connections those = connections_.of_message(bytes);
  if (!connections_.remember()) return load.rounds * those.copying(bytes);
  Opened& pair = opened(load);
  const double overhead = platform_.message_overhead(load.from, load.to);
  const double handshake = platform_.handshake(load.from, load.to, bytes), host = handshake + overhead;
  const double least = bytes / those.fastest(wire_);
  double now = sg::Engine::get_clock() + host, seconds = 0, before = -1;
  bool limited = false;
  int as_before = 0;  // rounds
  for (int left = load.rounds; left > 0; --left) {
    const double one = pair.connections.send(connections_, {bytes, now - handshake, 2 * latency, handshake, wire_});
    const double passes = std::max(one, least);
    as_before = std::abs(one - before) <= rounding * latency ? as_before + 1 : 0;
    const bool settled = as_before >= connections_.turns();
    const int alike = settled ? left : 1;
    const double later = (alike - 1) * (passes + latency + host);
    pair.connections.delay(later);
    now += later + passes + latency + (left > alike ? host : 0);
    seconds += alike * passes;
    limited = limited || one > 0;
    if (settled) break;
    before = one;
  }
  pair.last = std::max(pair.last, now);
  pair.arrives = now;
  return limited ? seconds : 0;
}

// Between rounds the wire is idle for a latency and a host's time, which bring tokens.
double Network::let_through(const Load& load, double latency) {
  if (buckets_.empty()) return 0;
  TokenBucket& bucket = buckets_[static_cast<std::size_t>(platform_.nic_of(load.from))];
  bucket.wait_until(sg::Engine::get_clock());
  const double gap = latency + platform_.message_overhead(load.from, load.to);
  return bucket.take(static_cast<double>(load.bytes), load.rounds - 1, gap);
}

Flow Network::start(const Load& load) {
  Flow flow;
  flow.terms = admit(load);
  flow.through =
      flow.terms.seconds > 0 ? sg::Engine::get_clock() + platform_.latency(load.from, load.to) + flow.terms.seconds : 0;
  const auto& hosts = platform_.hosts;
  flow.comm =
      sg::Comm::sendto_async(hosts[static_cast<std::size_t>(load.from)], hosts[static_cast<std::size_t>(load.to)],
                             static_cast<std::uint64_t>(flow.terms.bytes));
  return flow;
}

void Network::note_end(const Load& load, double when) {
  const auto found = opened_.find(key_of(load));
  if (found == opened_.end()) return;
  Opened& pair = found->second;
  pair.last = std::max(pair.last, when);
  if (when > pair.arrives) pair.connections.delay(when - pair.arrives);
  pair.arrives = std::max(pair.arrives, when);
}

Network::Opened& Network::opened(const Load& load) {
  Opened& pair = opened_[key_of(load)];
  const bool idle = sg::Engine::get_clock() > pair.last + connections_.idle;
  if (!pair.connections.started() || idle) pair.connections.restart(connections_);
  return pair;
}

}  // namespace trigram::sim
