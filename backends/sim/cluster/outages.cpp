// Stops and returns of links and GPUs.
#include "backends/sim/cluster/outages.hpp"

#include <algorithm>

namespace trigram::sim {

namespace {

/// One quantity that stands still for a while.
struct Stop {
  Change begin;  ///< with the value of what is stopped
  double end = 0;
};

bool is_of(const Change& change, const Change& other) {
  return change.quantity == other.quantity && change.target == other.target;
}

std::vector<Stop> stops_of(const std::vector<Outage>& outages, const std::function<std::vector<int>(int)>& ranks_of) {
  constexpr double least_bandwidth = 0.1, most_slow = 1e9;  // of those that let time pass
  std::vector<Stop> stops;
  for (const Outage& outage : outages) {
    if (outage.to == outage.from) continue;
    if (outage.part != Fault::Part::gpu)
      stops.push_back({{outage.from, Change::Quantity::nic_bandwidth, outage.target, least_bandwidth}, outage.to});
    if (outage.part == Fault::Part::nic) continue;
    const bool one = outage.part == Fault::Part::gpu;
    for (const int rank : one ? std::vector<int>{outage.target} : ranks_of(outage.target))
      stops.push_back({{outage.from, Change::Quantity::slow, rank, most_slow}, outage.to});
  }
  return stops;
}

bool is_stopped(const std::vector<Stop>& stops, const Change& what, double time) {
  return std::ranges::any_of(
      stops, [&](const Stop& stop) { return is_of(stop.begin, what) && stop.begin.time <= time && time < stop.end; });
}

}  // namespace

std::vector<Change> with_outages(const std::vector<Change>& changes, const std::vector<Outage>& outages,
                                 const std::function<std::vector<int>(int)>& ranks_of,
                                 const std::function<double(const Change&)>& initial) {
  const std::vector<Stop> stops = stops_of(outages, ranks_of);
  std::vector<Change> all;
  for (const Change& change : changes) {
    if (!is_stopped(stops, change, change.time)) all.push_back(change);
  }
  for (const Stop& stop : stops) {
    all.push_back(stop.begin);
    if (is_stopped(stops, stop.begin, stop.end)) continue;
    Change back{stop.end, stop.begin.quantity, stop.begin.target, initial(stop.begin)};
    for (const Change& change : changes) {
      if (is_of(change, back) && change.time <= back.time) back.value = change.value;
    }
    all.push_back(back);
  }
  std::ranges::stable_sort(all, {}, &Change::time);
  return all;
}

}  // namespace trigram::sim
