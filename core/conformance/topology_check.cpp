#include "core/conformance/topology_check.hpp"

#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "core/topology.hpp"

namespace trigram {
namespace {

constexpr double rounding = 1e-9;

class TopologyCheck {
 public:
  TopologyCheck(const Topology& topology, TriedTopology& tried) : topology_(topology), tried_(tried) {}

  void run() {
    constexpr std::int64_t unending = 8, longest = 32;
    const std::int64_t period = topology_.period();
    const std::int64_t steps = period == 0 ? unending : std::min(period, longest);
    for (std::int64_t step = 0; step < steps && tried_.violations.empty(); ++step) {
      for (int vertex = 0; vertex < topology_.size() && tried_.violations.empty(); ++vertex) {
        peers(vertex, step, "sends to", topology_.sends_to(vertex, step));
        peers(vertex, step, "receives from", topology_.receives_from(vertex, step));
        heard(vertex, step);
        weights(vertex, step);
        if (period > 0) repeats(vertex, step, period);
      }
    }
    const double gap = spectral_gap(topology_);
    tried_.spectral_gap = std::clamp(gap, 0.0, 1.0);
    if (!(std::abs(gap - tried_.spectral_gap) <= rounding)) {
      tried_.violations.push_back({"schedule", "the spectral gap is " + std::to_string(gap)});
    }
  }

 private:
  void report(const std::string& invariant, int vertex, std::int64_t step, const std::string& text) {
    tried_.violations.push_back(
        {invariant, "vertex " + std::to_string(vertex) + ", step " + std::to_string(step) + ": " + text});
  }

  void peers(int vertex, std::int64_t step, const std::string& word, const std::vector<int>& all) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      const bool ascending = i == 0 || all[i] > all[i - 1];
      if (ascending && all[i] != vertex && all[i] >= 0 && all[i] < topology_.size()) continue;
      return report("peers", vertex, step,
                    word + " " + std::to_string(all[i]) + ", which is itself, no vertex, or not in ascending order");
    }
  }

  void heard(int vertex, std::int64_t step) {
    for (int other = 0; other < topology_.size(); ++other) {
      const bool sends = holds(topology_.sends_to(vertex, step), other);
      if (sends == holds(topology_.receives_from(other, step), vertex)) continue;
      return report("peers", vertex, step,
                    (sends ? "sends to " : "does not send to ") + std::to_string(other) + ", which " +
                        (sends ? "does not receive" : "receives") + " from it");
    }
  }

  static bool holds(const std::vector<int>& peers, int vertex) {
    return std::find(peers.begin(), peers.end(), vertex) != peers.end();
  }

  void weights(int vertex, std::int64_t step) {
    double row = 0, column = 0;
    for (int other = 0; other < topology_.size(); ++other) {
      const double weight = topology_.weight(vertex, other, step);
      row += weight;
      column += topology_.weight(other, vertex, step);
      if (!(weight >= 0))
        report("weights", vertex, step, "gives " + std::to_string(weight) + " to " + std::to_string(other));
      const bool symmetric = std::abs(weight - topology_.weight(other, vertex, step)) <= rounding;
      if (!symmetric && !topology_.directed()) {
        return report("weights", vertex, step,
                      "W is not symmetric at " + std::to_string(other) + ", but the graph is not directed");
      }
    }
    for (const auto& [name, sum] : {std::pair("row", row), std::pair("column", column)}) {
      if (!(std::abs(sum - 1) <= rounding))
        report("weights", vertex, step, std::string("its ") + name + " sums to " + std::to_string(sum));
    }
  }

  void repeats(int vertex, std::int64_t step, std::int64_t period) {
    for (int other = 0; other < topology_.size(); ++other) {
      if (topology_.weight(vertex, other, step) == topology_.weight(vertex, other, step + period)) continue;
      return report("schedule", vertex, step,
                    "its weights are others " + std::to_string(period) + " steps later, which is its period");
    }
  }

  const Topology& topology_;
  TriedTopology& tried_;
};

}  // namespace

TriedTopology try_topology(const std::string& spec, int size) {
  const auto topology = Topologies::make(spec);
  TriedTopology tried;
  tried.size = size;
  try {
    topology->resize(size);
  } catch (const UsageError& error) {
    tried.refusal = error.what();
    return tried;
  }
  TopologyCheck(*topology, tried).run();
  return tried;
}

}  // namespace trigram
