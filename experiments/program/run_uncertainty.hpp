// What draws say of a run's iteration, beside the run's own answer.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "experiments/program/flags/uncertainty.hpp"
#include "experiments/settings/run_config.hpp"

namespace trigram {

/// --uncertainty of a run: whole runs where it is given, and else short ones of a profile on a simulated cluster.
struct RunUncertaintyFlags : UncertaintyFlags {
  explicit RunUncertaintyFlags(Params& flags);
};

/// Draws from the ranges of a run that has ended, adds "uncertainty" to its run.json, and returns lines for people;
/// empty where nothing is to be drawn. Where --uncertainty is not given, all draws together have about as many steps as
/// the run, two at a time, and what they say is a share of the run's own iteration: only where as few steps of the run
/// as it is written take as long as its own, within 5 %, and send as much, within 1 %. `flags` are the run's, with the
/// ranges of its system.
std::string draw_uncertainty(const Settings& flags, const RunUncertaintyFlags& uncertainty, const RunConfig& config,
                             nlohmann::json& run);

}  // namespace trigram
