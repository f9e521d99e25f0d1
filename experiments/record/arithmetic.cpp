#include "experiments/record/arithmetic.hpp"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/training/backend.hpp"
#include "core/values/units.hpp"
#include "experiments/settings/settings.hpp"

namespace trigram {

double arithmetic_seconds(const nlohmann::json& summary, double steps, const Params& cluster) {
  if (cluster.has("platform")) return std::numeric_limits<double>::quiet_NaN();
  const Settings values = layered(defaults_of(Backends::parameters("sim")), cluster.values());
  const auto over = [&](double bytes, const char* link) {
    return bytes / parse_quantity(values.at(link), Unit::bytes_per_second);
  };
  const nlohmann::json& nic = summary.at("busiest_nic");
  const double leaving =
      nic.is_object() ? std::max(nic.at("bytes_sent").get<double>(), nic.at("bytes_received").get<double>()) / steps
                      : 0;
  const double inside = summary.at("bytes_per_step_inside_nodes").get<double>();
  return summary.at("breakdown").at("compute_s").get<double>() +
         std::max(over(leaving, "nic_bandwidth"), over(inside, "node_bandwidth"));
}

}  // namespace trigram
