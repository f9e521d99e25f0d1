// Results of a run as text: rows, a trace and a summary of what the ranks brought home.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "core/training/training.hpp"

namespace trigram {

/// The columns of StepRow; what the row's rank has taken since the clock began, in joules and dollars, where the
/// cluster has rates for them; and what the algorithm recorded, empty where it recorded nothing.
std::string steps_csv(const Training& training);

/// The columns of EvalRow, what all ranks have taken by then, and what was recorded, in the order of steps and times.
std::string evals_csv(const Training& training);

/// The spans in Chrome's trace format: a process a rank, a thread a lane with its name in `layout`, microseconds.
/// `write` gets it piece by piece, since it is larger than all else.
void write_trace(const std::vector<RankReport>& ranks, const LaneLayout& layout,
                 const std::function<void(std::string_view)>& write);

/// What a run comes down to. iteration_s is rank 0's mean over all steps, so that steps that exchange and steps that do
/// not count as often as they happen; iteration_median_s is its median; iteration_slowest_rank_s is the mean of the
/// rank that takes longest. samples_per_s adds every rank's own rate, over the same steps, and counts samples that data
/// lines share once: `global_batch` a step, of all its micro-batches. Bytes a step are means over steps, of the mean
/// and of the largest rank; those of the mean are parted into what stays inside nodes and what goes between them.
/// clock_s is when the last rank ended on the backend's clock, and simulated_s the same where that is a model's, as
/// `simulated` says. energy_J and money_USD are of all ranks until the last one has ended. JSON null stands for what
/// the workload, or the cluster, does not have.
nlohmann::json summarize(const Training& training, std::int64_t global_batch, bool simulated = true);

/// What summarize has a number or null for: "iteration_s", "breakdown.wire_s", ...
std::vector<std::string> summary_names();

}  // namespace trigram
