#include "backends/sim/cluster/node_paths.hpp"

#include <algorithm>
#include <numeric>

#include "backends/sim/cluster/events.hpp"
#include "core/values/error.hpp"
#include "core/values/located.hpp"
#include "core/values/quoted.hpp"
#include "core/values/units.hpp"

namespace trigram::sim {
namespace {

/// Bytes a second.
constexpr Range<double> that_let_time_pass{.least = 0.1};
constexpr std::size_t most_paths = 64;

std::vector<double> wires_of(const Params& params, std::string text) {
  std::ranges::replace(text, ',', ' ');
  const auto place = [&params] { return params.owner() + ": 'nics': "; };
  std::vector<double> wires;
  for (const std::string& word : split_at_spaces(text)) {
    wires.push_back(located(place, [&] { return parse_quantity(word, Unit::bytes_per_second); }));
    require(that_let_time_pass.contains(wires.back()), place, wires.back(),
            " bytes/s let no time pass; give at least 1bps");
  }
  require(wires.size() <= most_paths, place, "names ", wires.size(), " paths; there can be ", most_paths);
  return wires;
}

}  // namespace

NodePaths::NodePaths(Params& params) {
  const double one =
      params.get("nic_bandwidth", "25Gbps", Unit::bytes_per_second, "of a NIC, one way", that_let_time_pass);
  wires_ = wires_of(params, params.get("nics", "",
                                       "several paths in place of nic_bandwidth, over which each message is spread, as "
                                       "10Gbps,1Gbps; empty: one"));
  if (wires_.empty()) wires_.push_back(one);
  const std::string striping =
      params.get("nic_striping", "queue",
                 "how a message is spread over nics: queue: paths draw parts of it when they are idle; equal: each has "
                 "the same share, in turn");
  require(striping == "queue" || striping == "equal", params.owner(), ": 'nic_striping' is queue or equal, not ",
          Quoted(striping));
  equal_shares_ = striping == "equal";
  require(wires_.size() > 1 || !params.has("nic_striping"), params.owner(),
          ": 'nic_striping' cannot influence one path; leave it out, or give 'nics'");
  chunk_ =
      params.get("nic_chunk", "0", Unit::bytes,
                 "bytes that one of several nics draws of a message at once, where another is not sooner done with "
                 "them: slow ones carry nothing of a short message; 0: nics share every byte");
  require(chunk_ == 0 || (chunk_ >= 1 && wires_.size() > 1 && !equal_shares_), params.owner(), ": 'nic_chunk' is ",
          chunk_,
          " bytes, and needs several 'nics' that draw from one queue, and at least 1B; give these, or leave it out");
}

std::vector<double> NodePaths::usable(double share, double cap) const {
  std::vector<double> rates;
  for (const double wire : wires_) rates.push_back(cap > 0 ? std::min(wire * share, cap) : wire * share);
  return rates;
}

double NodePaths::bandwidth(double share, double cap) const {
  const std::vector<double> rates = usable(share, cap);
  if (equal_shares_) return static_cast<double>(rates.size()) * std::ranges::min(rates);
  return std::accumulate(rates.begin(), rates.end(), 0.0);
}

}  // namespace trigram::sim
