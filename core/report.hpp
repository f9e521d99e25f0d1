// Result files of a run: rows, a trace and a summary of what the ranks brought home, written whole or not at all.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/trainer.hpp"

namespace trigram {

/// Writes `text` to a new file beside `path` and renames it, so that nobody ever sees half of it. Throws UsageError
/// naming the path and the system's reason: no folder, no permission, a full disk.
void write_file(const std::filesystem::path& path, const std::string& text);

/// Makes the folder and proves that files can be written in it. Throws UsageError.
void require_writable(const std::filesystem::path& folder);

/// step,rank,time_s,loss,bytes_sent,compute_s,encode_s,wire_s,decode_s,exposed_s
std::string steps_csv(const std::vector<RankReport>& ranks);

/// step,time_s,loss,accuracy,worst_accuracy,consensus_distance, in the order of steps and times.
std::string evals_csv(const std::vector<RankReport>& ranks);

/// The evaluations of all ranks in the order of steps and times.
std::vector<EvalRow> evaluations(const std::vector<RankReport>& ranks);

/// The spans in Chrome's trace format: a process a rank, a thread a lane, microseconds.
std::string trace_json(const std::vector<RankReport>& ranks);

/// What a run comes down to. Iteration times are of rank 0 after its first step (median, mean); samples_per_s adds
/// every rank's own rate; bytes a step are means over steps, of the mean and of the largest rank. JSON null stands for
/// what the workload does not have.
nlohmann::json summarize(const Training& training);

}  // namespace trigram
