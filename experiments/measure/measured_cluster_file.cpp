// The file of a measured cluster.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/values/decimal.hpp"
#include "core/values/error.hpp"
#include "core/values/units.hpp"
#include "experiments/measure/measured_cluster.hpp"

namespace trigram {
namespace {

/// A line without a slope has no limit that anybody saw.
std::string rate(double per_second, Unit unit) {
  constexpr double beyond_measure = 1e18;
  const double finite = std::min(per_second, beyond_measure);
  return unit == Unit::bytes ? format_quantity(finite, unit) + "/s" : format_quantity(finite, unit);
}

std::string rate(const AlphaBeta& line, Unit unit) {
  return rate(line.beta > 0 ? 1 / line.beta : std::numeric_limits<double>::infinity(), unit);
}

std::string whole_percent(double ratio) {
  constexpr double hundred = 100;
  return std::to_string(std::lround(hundred * ratio)) + " %";
}

std::string link_keys(const std::string& prefix, const MessageTerms& terms, double bandwidth, Unit unit) {
  return prefix + "_bandwidth = " + rate(bandwidth, unit) + "\n" + prefix +
         "_latency = " + format_quantity(terms.latency, Unit::seconds) + "\n";
}

/// Two paths, of which short messages have the faster one.
std::string path_keys(const MessageTerms& terms) {
  const double faster = terms.bandwidth / (1 + terms.slower);
  return "nics = " + rate(faster, Unit::bytes_per_second) + " " + rate(faster * terms.slower, Unit::bytes_per_second) +
         "\nnic_chunk = " + format_quantity(terms.chunk, Unit::bytes) +
         "\nnic_latency = " + format_quantity(terms.latency, Unit::seconds) + "\n";
}

/// What a shaper lets through at once, and how fast.
std::string burst_keys(const MessageTerms& terms) {
  if (terms.burst == 0) return "";
  return "nic_burst = " + format_quantity(terms.burst, Unit::bytes) +
         "\nnic_line_rate = " + rate(terms.line_rate, Unit::bytes_per_second) + "\n";
}

/// What a connection has in flight, and how messages are spread over those of two ranks.
std::string connection_keys(const MessageTerms& terms) {
  if (terms.window == 0) return "";
  std::string text = "nic_window = " + format_quantity(terms.window, Unit::bytes) + "\n";
  if (terms.connections > 1) text += "connections = " + std::to_string(terms.connections) + "\n";
  if (terms.eager && terms.handshake > 0)
    text += "eager_size = " + format_quantity(terms.handshake_size, Unit::bytes) + "\n";
  return text;
}

/// What these ranks could not show.
std::string unknown_connections(const MeasuredCluster& cluster) {
  if (cluster.connection_cap > 0) return "";
  const MessageTerms& terms = cluster.of(Pattern::Kind::nodes_at_once)->terms;
  if (cluster.of(Pattern::Kind::all_ranks_at_once) == nullptr)
    return std::string("# Not identified: connection_cap") + (terms.window > 0 ? "" : ", nic_window") +
           (terms.connections > 1 ? "" : " and connections") + ", since a node had one rank to connect.\n";
  return cluster.nic_per_gpu
             ? "# Not identified: whether ranks of a node have a NIC each, as is written here, or share "
               "one that is\n# faster than all of their connections.\n"
             : "";
}

std::string handshake_keys(const MessageTerms& terms) {
  if (terms.handshake == 0) return "";
  return "nic_handshake = " + format_quantity(terms.handshake, Unit::seconds) +
         "\nhandshake_size = " + format_quantity(terms.handshake_size, Unit::bytes) + "\n";
}

std::string nic_keys(const MeasuredCluster& cluster, const MessageTerms& terms) {
  std::string text =
      terms.chunk > 0 ? path_keys(terms) : link_keys("nic", terms, cluster.nic_bandwidth, Unit::bytes_per_second);
  text += burst_keys(terms) + connection_keys(terms);
  if (cluster.message_overhead > 0)
    text += "message_overhead = " + format_quantity(cluster.message_overhead, Unit::seconds) + "\n";
  if (cluster.connection_cap > 0)
    text += "# Several connections carried more than one. For long messages a nic_window of " +
            format_quantity(2 * terms.latency * cluster.connection_cap, Unit::bytes) +
            " would do the same as this cap:\n# times on one network cannot tell them apart.\nconnection_cap = " +
            format_quantity(cluster.connection_cap, Unit::bytes_per_second) + "\n";
  return text + unknown_connections(cluster);
}

/// What the figures of a link are, beside those of one message alone.
std::string link_comment(const MeasuredMessages& all, const MeasuredMessages& alone, Unit unit) {
  return "# All at once, each way; off by at most " + whole_percent(all.worst_residual()) +
         ". A pair alone: " + rate(alone.terms.bandwidth, unit) + " after " +
         format_quantity(alone.terms.overhead + alone.terms.latency, Unit::seconds) + ".\n";
}

/// An element often takes less than the least unit.
std::string nanoseconds(double seconds) {
  constexpr int digits = 4;
  constexpr double of_a_second = 1e9;
  return decimal(of_a_second * seconds, digits) + "ns";
}

/// "1..4194304"
std::string elements_text(const MeasuredLine& fit) {
  const auto elements = [](const MeasuredPoint& point) { return std::to_string(std::llround(point.median.amount)); };
  return elements(fit.points.front()) + ".." + elements(fit.points.back());
}

/// codec/step/call/element/elements of each codec; none where none was measured.
std::string codec_keys(const std::vector<MeasuredLine>& codecs) {
  if (codecs.empty()) return "";
  std::string rates;
  double worst = 0;
  for (const MeasuredLine& fit : codecs) {
    worst = std::max(worst, fit.worst_residual());
    rates += " " + fit.name + "/" + format_quantity(fit.line.alpha, Unit::seconds) + "/" + nanoseconds(fit.line.beta) +
             "/" + elements_text(fit);
  }
  return "\n# Codecs with their default parameters, seconds a call and an element, and calls of how many elements; off "
         "by "
         "at most " +
         whole_percent(worst) + ".\ncodec_rates =" + rates + "\n";
}

std::string times_text(const Slowdown& slowdown) {
  constexpr double digits = 100;
  return (slowdown.at_least ? "at least " : "") + number_text(std::round(digits * slowdown.times) / digits) + " times";
}

/// What kernels lose to collectives is a key; what they lose to codecs is an even share in the model.
std::string contention_keys(const MeasuredCluster& cluster) {
  constexpr double of_note = 1.02;
  const std::string codecs = "beside encoding " + times_text(cluster.beside_codecs) +
                             ", where the simulator has kernels\n# share their GPU evenly: 2 times.\n";
  const bool alone = cluster.ranks_of_node.size() == 1 && cluster.ranks_of_node.front() == 1;
  if (alone)
    return "\n# Not identified: compute_slowdown, since one rank has nobody to gather with. Kernels took " + codecs;
  std::string text = "\n# Kernels beside collectives of another lane took " + times_text(cluster.beside_collectives) +
                     " as long as alone, " + codecs;
  if (cluster.beside_collectives.times < of_note) return text;
  return text + "compute_slowdown = " + number_text(cluster.beside_collectives.times) + "\n";
}

std::string busy_link_comment(const MeasuredCluster& cluster) {
  if (cluster.of(Pattern::Kind::nodes_at_once) == nullptr)
    return "# Not identified: messages on a busy link, since all ranks are on one node.\n";
  return "# An empty message took " + format_quantity(cluster.idle_link, Unit::seconds) + " on an idle link and " +
         format_quantity(cluster.busy_link, Unit::seconds) +
         " beside long ones.\n# No key: the simulator's links have no queues.\n";
}

std::string nodes_keys(const std::vector<int>& ranks) {
  std::string text = "nodes = " + std::to_string(ranks.size()) + "\ngpus_per_node =";
  const bool equal = std::all_of(ranks.begin(), ranks.end(), [&](int count) { return count == ranks.front(); });
  for (const int count : equal ? std::vector<int>{ranks.front()} : ranks) text += " " + std::to_string(count);
  return text + "\n";
}

}  // namespace

std::string cluster_file(const MeasuredCluster& cluster, const std::string& origin) {
  using Kind = Pattern::Kind;
  std::string text = "# " + origin + "\n" + nodes_keys(cluster.ranks_of_node);
  if (const MeasuredMessages* nic = cluster.of(Kind::nodes_at_once)) {
    text += "\n" + link_comment(*nic, *cluster.of(Kind::pair_between_nodes), Unit::bytes_per_second);
    text += std::string("nic = ") + (cluster.nic_per_gpu ? "gpu" : "node") + "\n" + nic_keys(cluster, nic->terms) +
            handshake_keys(nic->terms);
  }
  if (const MeasuredMessages* node = cluster.of(Kind::inside_nodes_at_once)) {
    text += "\n" + link_comment(*node, *cluster.of(Kind::pair_inside_node), Unit::bytes) +
            link_keys("node", node->terms, node->terms.bandwidth, Unit::bytes);
  }
  text += "\n# Operations of the Device on all ranks at once; off by at most " +
          whole_percent(cluster.memory.worst_residual()) + " (memory) and " +
          whole_percent(cluster.arithmetic.worst_residual()) + " (arithmetic).\n";
  text += "gpu_flops = " + rate(cluster.arithmetic.line, Unit::flops) + "\n";
  text += "gpu_memory_bandwidth = " + rate(cluster.memory.line, Unit::bytes) + "\n";
  text += "kernel_launch = " + format_quantity(cluster.memory.line.alpha, Unit::seconds) + "\n";
  return text + contention_keys(cluster) + busy_link_comment(cluster) + codec_keys(cluster.codecs);
}

}  // namespace trigram
