// What a line of arithmetic says of an iteration, beside which a simulation has to be better to be worth its trouble.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "core/registry/params.hpp"

namespace trigram {

/// Compute, and behind it the bytes of the link that carries most over its bandwidth on the data sheet: a NIC's to
/// other nodes, or a GPU's inside its own. Of a simulated training of so many steps, by its summary and the cluster's
/// parameters. NaN on a platform file.
double arithmetic_seconds(const nlohmann::json& summary, double steps, const Params& cluster);

}  // namespace trigram
