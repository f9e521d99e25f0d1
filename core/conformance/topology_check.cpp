#include "core/conformance/topology_check.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "core/topologies/topology.hpp"
#include "core/values/error.hpp"

namespace trigram {
namespace {

constexpr double rounding_of_weights = 1e-9;

class TopologyCheck {
 public:
  TopologyCheck(const Topology& topology, TriedTopology& tried) : topology_(topology), tried_(tried) {}

  void run() {
    constexpr std::int64_t unending = 8, longest = 32;
    const std::int64_t period = topology_.period();
    const std::int64_t steps = period == 0 ? unending : std::min(period, longest);
    for (std::int64_t step = 0; step < steps && tried_.violations.empty(); ++step) {
      rows_of(step);
      for (int vertex = 0; vertex < topology_.size() && tried_.violations.empty(); ++vertex) {
        peers(vertex, step);
        heard(vertex, step);
        weights(vertex, step);
        if (period > 0) repeats(vertex, step, period);
      }
    }
    if (!tried_.violations.empty()) return;
    if (period > 0 && period <= longest) mixing(period);
    const double gap = spectral_gap(topology_);
    tried_.spectral_gap = std::clamp(gap, 0.0, 1.0);
    if (!(std::abs(gap - tried_.spectral_gap) <= rounding_of_weights)) {
      tried_.violations.push_back({"schedule", "the spectral gap is " + std::to_string(gap)});
    }
  }

 private:
  void report(const std::string& invariant, int vertex, std::int64_t step, const std::string& text) {
    tried_.violations.push_back(
        {invariant, "vertex " + std::to_string(vertex) + ", step " + std::to_string(step) + ": " + text});
  }

  void rows_of(std::int64_t step) {
    rows_.clear();
    for (int vertex = 0; vertex < topology_.size(); ++vertex) rows_.push_back(topology_.row(vertex, step));
  }

  void peers(int vertex, std::int64_t step) {
    const Topology::Row& own = row(vertex);
    if (own.count(vertex) == 0) return report("peers", vertex, step, "its row does not have itself");
    for (const int outside : {own.begin()->first, own.rbegin()->first}) {
      if (is_vertex(outside)) continue;
      return report("peers", vertex, step, "receives from " + std::to_string(outside) + ", which is no vertex");
    }
    int last = -1;
    for (const int peer : topology_.sends_to(vertex, step)) {
      const bool right = peer > last && peer != vertex && is_vertex(peer);
      last = peer;
      if (right) continue;
      return report("peers", vertex, step,
                    "sends to " + std::to_string(peer) + ", which is itself, no vertex, or not in ascending order");
    }
  }

  void heard(int vertex, std::int64_t step) {
    const std::vector<int> told = topology_.sends_to(vertex, step);
    for (int other = 0; other < topology_.size(); ++other) {
      const bool sends = std::find(told.begin(), told.end(), other) != told.end();
      if (other == vertex || sends == (row(other).count(vertex) > 0)) continue;
      return report("peers", vertex, step,
                    (sends ? "sends to " : "does not send to ") + std::to_string(other) + ", which " +
                        (sends ? "does not receive" : "receives") + " from it");
    }
  }

  void weights(int vertex, std::int64_t step) {
    double row_sum = 0, column_sum = 0;
    for (int other = 0; other < topology_.size(); ++other) {
      const double weight = at(vertex, other), back = at(other, vertex);
      row_sum += weight;
      column_sum += back;
      if (!(weight >= 0))
        report("weights", vertex, step, "gives " + std::to_string(weight) + " to " + std::to_string(other));
      if (!(std::abs(weight - back) <= rounding_of_weights) && !topology_.directed()) {
        return report("weights", vertex, step,
                      "W is not symmetric at " + std::to_string(other) + ", but the graph is not directed");
      }
    }
    const Topology::Stochasticity declared = topology_.stochasticity();
    if (declared != Topology::Stochasticity::column) sums_to_one("row", row_sum, vertex, step);
    if (declared != Topology::Stochasticity::row) sums_to_one("column", column_sum, vertex, step);
  }

  void sums_to_one(const std::string& name, double sum, int vertex, std::int64_t step) {
    if (std::abs(sum - 1) <= rounding_of_weights) return;
    report("weights", vertex, step,
           "its " + name + " sums to " + std::to_string(sum) + ", but it is " + name_of(topology_.stochasticity()));
  }

  void repeats(int vertex, std::int64_t step, std::int64_t period) {
    if (row(vertex) == topology_.row(vertex, step + period)) return;
    report("schedule", vertex, step,
           "its weights are others " + std::to_string(period) + " steps later, which is its period");
  }

  /// From vertex 0 along the edges of all steps, and against them.
  void mixing(std::int64_t period) {
    for (const bool along : {true, false}) {
      std::set<int> reached{0};
      std::vector<int> next{0};
      while (!next.empty()) {
        const int vertex = next.back();
        next.pop_back();
        for (std::int64_t step = 0; step < period; ++step) {
          for (const int peer : along ? topology_.sends_to(vertex, step) : topology_.receives_from(vertex, step)) {
            if (reached.insert(peer).second) next.push_back(peer);
          }
        }
      }
      for (int vertex = 0; vertex < topology_.size(); ++vertex) {
        if (reached.count(vertex) > 0) continue;
        tried_.violations.push_back({"mixing", "what vertex " + std::to_string(along ? 0 : vertex) +
                                                   " has never reaches vertex " + std::to_string(along ? vertex : 0)});
        return;
      }
    }
  }

  bool is_vertex(int number) const { return number >= 0 && number < topology_.size(); }
  const Topology::Row& row(int vertex) const { return rows_[static_cast<std::size_t>(vertex)]; }
  double at(int vertex, int other) const {
    const auto found = row(vertex).find(other);
    return found == row(vertex).end() ? 0.0 : found->second;
  }

  const Topology& topology_;
  TriedTopology& tried_;
  std::vector<Topology::Row> rows_;  ///< of the step that is looked at
};

}  // namespace

TriedTopology try_topology(const std::string& spec, const Vertices& vertices) {
  const auto topology = Topologies::make(spec);
  TriedTopology tried;
  tried.size = vertices.count;
  try {
    topology->resize(vertices);
  } catch (const UsageError& error) {
    tried.refusal = error.what();
    return tried;
  }
  TopologyCheck(*topology, tried).run();
  return tried;
}

}  // namespace trigram
