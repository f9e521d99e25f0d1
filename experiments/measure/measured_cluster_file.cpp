// The file of a measured cluster.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/units.hpp"
#include "experiments/measure/measured_cluster.hpp"

namespace trigram {
namespace {

/// 1/beta in units of something a second; a line without a slope has no limit that anybody saw.
std::string rate(const AlphaBeta& line, Unit unit) {
  constexpr double beyond_measure = 1e18;
  const double per_second = line.beta > 0 ? 1 / line.beta : beyond_measure;
  return unit == Unit::bytes ? format_quantity(per_second, unit) + "/s" : format_quantity(per_second, unit);
}

std::string whole_percent(double ratio) {
  constexpr double hundred = 100;
  return std::to_string(std::lround(hundred * ratio)) + " %";
}

std::string link_keys(const std::string& prefix, const AlphaBeta& line, Unit unit) {
  return prefix + "_bandwidth = " + rate(line, unit) + "\n" + prefix +
         "_latency = " + format_quantity(line.alpha, Unit::seconds) + "\n";
}

std::string handshake_keys(const AlphaBeta& line) {
  if (line.step == 0) return "";
  return "nic_handshake = " + format_quantity(line.step, Unit::seconds) +
         "\nhandshake_size = " + format_quantity(line.step_after, Unit::bytes) + "\n";
}

/// What the figures of a link are, beside those of one message alone.
std::string link_comment(const MeasuredLine& fit, const MeasuredLine& alone, Unit unit) {
  return "# All at once, each way; off by at most " + whole_percent(fit.worst_residual()) +
         ". A pair alone: " + rate(alone.line, unit) + " after " + format_quantity(alone.line.alpha, Unit::seconds) +
         ".\n";
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
  if (const MeasuredLine* nic = cluster.of(Kind::nodes_at_once)) {
    text += "\n" + link_comment(*nic, *cluster.of(Kind::pair_between_nodes), Unit::bytes_per_second);
    text += std::string("nic = ") + (cluster.nic_per_gpu ? "gpu" : "node") + "\n" +
            link_keys("nic", nic->line, Unit::bytes_per_second) + handshake_keys(nic->line);
  }
  if (const MeasuredLine* node = cluster.of(Kind::inside_nodes_at_once)) {
    text += "\n" + link_comment(*node, *cluster.of(Kind::pair_inside_node), Unit::bytes) +
            link_keys("node", node->line, Unit::bytes);
  }
  text += "\n# Operations of the Device on all ranks at once; off by at most " +
          whole_percent(cluster.memory.worst_residual()) + " (memory) and " +
          whole_percent(cluster.arithmetic.worst_residual()) + " (arithmetic).\n";
  text += "gpu_flops = " + rate(cluster.arithmetic.line, Unit::flops) + "\n";
  text += "gpu_memory_bandwidth = " + rate(cluster.memory.line, Unit::bytes) + "\n";
  text += "kernel_launch = " + format_quantity(cluster.memory.line.alpha, Unit::seconds) + "\n";
  return text;
}

}  // namespace trigram
