// What takes most of a predicted time.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "core/registry/params.hpp"
#include "experiments/settings/error_bars.hpp"

namespace trigram {

/// Of a simulated training of so many steps, by its summary and the cluster's parameters.
Regime regime_of(const nlohmann::json& summary, double steps, const Params& cluster);

/// Of a collective, by its seconds and those of the smallest one of its kind.
Regime regime_of(double seconds, double smallest);

}  // namespace trigram
