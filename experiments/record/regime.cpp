#include "experiments/record/regime.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/training/backend.hpp"
#include "core/values/frames.hpp"
#include "core/values/units.hpp"
#include "experiments/settings/settings.hpp"

namespace trigram {
namespace {

constexpr double most_of_it = 0.5;

/// Seconds in which the link that carries most could carry a step's bytes.
double link_seconds(const nlohmann::json& summary, double steps, const Params& cluster) {
  const Settings values = layered(defaults_of(Backends::parameters("sim")), cluster.values());
  const auto rate = [&](const char* key) { return parse_quantity(values.at(key), Unit::bytes_per_second); };
  const double efficiency = cluster.has("nic_efficiency")
                                ? finite_number(values.at("nic_efficiency")).value_or(1)
                                : payload_share(parse_quantity(values.at("mtu"), Unit::bytes));
  const double usable = rate("nic_bandwidth") * efficiency;
  const double cap = rate("nic_cap");
  const nlohmann::json& nic = summary.at("busiest_nic");
  double seconds = 0;
  if (nic.is_object()) {
    const double bytes = std::max(nic.at("bytes_sent").get<double>(), nic.at("bytes_received").get<double>());
    seconds = bytes / steps / (cap > 0 ? std::min(cap, usable) : usable);
  }
  return std::max(seconds, summary.at("bytes_per_step_mean").get<double>() / rate("node_bandwidth"));
}

}  // namespace

Regime regime_of(const nlohmann::json& summary, double steps, const Params& cluster) {
  const nlohmann::json& parts = summary.at("breakdown");
  if (parts.at("exposed_s").get<double>() < most_of_it * summary.at("iteration_s").get<double>())
    return Regime::compute;
  return link_seconds(summary, steps, cluster) < most_of_it * parts.at("wire_s").get<double>() ? Regime::latency
                                                                                               : Regime::bandwidth;
}

Regime regime_of(double seconds, double smallest) {
  return smallest > most_of_it * seconds ? Regime::latency : Regime::bandwidth;
}

}  // namespace trigram
