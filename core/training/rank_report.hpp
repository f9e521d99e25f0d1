// The results of training on one rank: rows, spans, costs, and its weights where they are kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/device/timeline.hpp"
#include "core/training/records.hpp"
#include "core/values/cost.hpp"

namespace trigram {

/// A row of steps.csv. Seconds are busy seconds on this rank's lanes and may overlap; compute and exposed, both of the
/// main lane, sum to the step.
struct StepRow {
  static constexpr std::string_view columns[] = {
      "step",      "rank",     "time_s", "loss",     "bytes_sent", "bytes_between_nodes",
      "compute_s", "encode_s", "wire_s", "decode_s", "exposed_s"};
  std::int64_t step = 0;
  int rank = 0;
  double time_s = 0;  ///< when the step ended
  double loss = 0;    ///< of this rank's batch; NaN without one
  std::int64_t bytes_sent = 0;
  std::int64_t bytes_between_nodes = 0;  ///< those of bytes_sent that went to another node
  double compute_s = 0, encode_s = 0, wire_s = 0, decode_s = 0, exposed_s = 0;
  double busy_s = 0;  ///< of the GPU, whatever its lanes ran at the same time; no column of its own
};

/// A row of evals.csv: the weights of all ranks after `step` steps, or at a simulated time. In a mesh each
/// data-parallel group has a mean model of its own.
struct EvalRow {
  static constexpr std::string_view columns[] = {"step",     "time_s",         "loss",
                                                 "accuracy", "worst_accuracy", "consensus_distance"};
  std::int64_t step = 0;           ///< of the rank that is furthest
  double time_s = 0;               ///< the time asked for, or when the last rank handed in its weights
  double loss = 0;                 ///< objective at the mean model, mean over data-parallel groups
  double accuracy = 0;             ///< at the mean model, mean over data-parallel groups
  double worst_accuracy = 0;       ///< of the worst rank
  double consensus_distance = 0;   ///< √(1/n Σ‖x_i − x̄‖²), x̄ of the rank's data-parallel group
  double bytes_sent = 0;           ///< in steps until then, mean over ranks
  double busy_s = 0;               ///< of GPUs in steps until then, sum over ranks that train
  double bytes_between_nodes = 0;  ///< sent in steps until then, sum over ranks that train
  double steps_mean = 0;           ///< that ranks had made by then, mean over those that train
  Records recorded = {};           ///< mean over ranks of what each has recorded last by then
};

/// A span with the lane that it ran on. There may be millions, so none owns its name: that lives as long as the
/// process.
struct LaneSpan {
  int lane = 0;
  Activity activity = Activity::compute;
  std::string_view name;
  double begin = 0, end = 0;
  std::int64_t bytes = 0;
  SpannedCall call = {};
};

/// The results of training on one rank. A rank that only serves has no steps, no batch and no weights.
struct RankReport {
  int rank = 0;
  std::vector<StepRow> steps;
  /// What the algorithm recorded, by column: one entry per row of `steps`, NaN where it recorded nothing.
  std::map<std::string, std::vector<double>> recorded;
  std::vector<EvalRow> evals;  ///< on the rank that completed them
  std::vector<LaneSpan> spans;
  std::int64_t steps_done = 0;
  Cost sent;                                ///< counted by the meters in all steps, or while it served
  std::int64_t sent_to_other_nodes = 0;     ///< of those bytes
  double busy_s = 0;                        ///< of the GPU in all steps, or while it served
  std::vector<Cost> cost_by_step;           ///< counted in each step, if kept
  Cost setup_and_finish;                    ///< counted outside steps
  std::int64_t local_batch = 0;             ///< 0: an empty shard
  double training_seconds = 0;              ///< first step's begin to last step's end
  std::vector<std::vector<float>> weights;  ///< by parameter, if kept
  std::uint64_t weights_digest = 0;         ///< of the final weights' bits; 0 where there are none
  std::vector<std::byte> state;             ///< of the last checkpoint, if kept
};

/// Each column with an entry for each row.
RankReport filled(RankReport report);
/// Serialize and deserialize, since ranks may be other processes.
std::vector<std::byte> pack(const RankReport& report);
RankReport unpack(const std::vector<std::byte>& bytes);

/// The evaluations of all ranks in the order of steps and times.
std::vector<EvalRow> evaluations(const std::vector<RankReport>& ranks);

}  // namespace trigram
