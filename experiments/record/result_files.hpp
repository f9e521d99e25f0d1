// The files that a run leaves in its folder.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>

#include "core/training/training.hpp"

namespace trigram {

/// What evals.csv says, for run.json, with the bytes that a rank had sent on average by then.
nlohmann::json curve(const Training& training);

/// By which the same final weights are seen, for run.json: "digest", of their bits, and whether all ranks that train
/// have the same ("equal_on_all_ranks"); where they do not, of all of them in rank order. Null for a workload without
/// weights.
nlohmann::json weights_facts(const Training& training);

/// Writes steps.csv, evals.csv, trace.json where `trace` says so, and run.json. All are whole before the first one
/// takes its place; run.json goes first and comes last: a folder that has one is whole. Throws UsageError.
void write_results(const std::filesystem::path& folder, bool trace, const LaneLayout& layout, const Training& training,
                   const nlohmann::json& run);

}  // namespace trigram
