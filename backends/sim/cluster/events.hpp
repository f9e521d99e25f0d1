// What disturbs a cluster while a simulation runs: slow ranks, changes, faults, outages and foreign traffic.
#pragma once

#include <string>
#include <vector>

namespace trigram::sim {

/// From `time` on, a quantity of one part of the cluster has another value.
struct Change {
  enum class Quantity { nic_bandwidth, nic_latency, node_bandwidth, node_latency, slow };
  double time = 0;
  Quantity quantity = Quantity::nic_bandwidth;
  int target = 0;    ///< a node for nic_*, a rank for the others
  double value = 0;  ///< bytes per second, seconds, or a factor of slowness
};

/// At `time`, a part of the cluster is gone for good.
struct Fault {
  enum class Part { nic, gpu, node };
  double time = 0;
  Part part = Part::nic;
  int target = 0;  ///< a node, or a rank for gpu
};

/// A part of the cluster that stops at `from` and goes on at `to` as if nothing had been: a NIC that lets nothing
/// through, a GPU that computes nothing, or a node, which is both. Nothing is lost meanwhile.
struct Outage {
  double from = 0, to = 0;
  Fault::Part part = Fault::Part::nic;
  int target = 0;  ///< a node, or a rank for gpu
};

/// Traffic of others: an endless flow between two nodes, at most `rate` bytes per second (0: as much as it gets).
struct Background {
  int from = 0, to = 0;
  double rate = 0;
};

/// A rank whose GPU takes `factor` times as long.
struct Slow {
  int rank = 0;
  double factor = 1;
};

/// "3:4 7:1.5": rank:factor. Each of these throws UsageError naming the entry.
std::vector<Slow> parse_slow(const std::string& text);
/// "0.5s/nic_bandwidth/2/1Gbps 1s/slow/3/2": time/quantity/target/value.
std::vector<Change> parse_changes(const std::string& text);
/// "0.5s/nic/2 1s/gpu/3": time/part/target.
std::vector<Fault> parse_faults(const std::string& text);
/// "20s/nic/2@60s 1s/gpu/3@0s": length/part/target@time.
std::vector<Outage> parse_outages(const std::string& text);
/// "0>1 2>3/1Gbps": from>to, from>to/rate.
std::vector<Background> parse_background(const std::string& text);

/// The words of a list that whitespace separates.
std::vector<std::string> split_at_spaces(const std::string& text);
/// A whole number that is not negative; throws UsageError naming `entry`.
int parse_index(const std::string& text, const std::string& entry);

}  // namespace trigram::sim
