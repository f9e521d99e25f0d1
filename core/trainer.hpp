// The one training loop, the same on every backend.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/algorithm.hpp"
#include "core/backend.hpp"
#include "core/bucket.hpp"
#include "core/worker.hpp"
#include "core/workload.hpp"

namespace trigram {

/// Everything that decides what a rank computes. Products are named by specs, so that each rank makes its own.
struct TrainingOptions {
  std::string algorithm = "all_reduce";
  std::string optimizer;  ///< empty: default_optimizer, or none where the algorithm updates by itself
  std::string workload = "mlp";
  std::int64_t steps = 100;
  std::int64_t evaluate_every = 0;  ///< steps between evaluations; 0: only before the first and after the last step
  double evaluate_seconds = 0;      ///< simulated seconds between evaluations, in place of steps; 0: by steps
  double learning_rate = 0.1;
  std::int64_t global_batch = 0;  ///< 0: the workload's own
  double label_skew = 0;
  bool validation = false;
  BucketOptions buckets;
  Relaxation relaxation;
  bool record_all = false;                         ///< step rows of every rank, else of rank 0
  bool keep_spans = false;                         ///< spans for a trace
  bool keep_weights = false;                       ///< final weights of every rank in its report
  bool keep_costs = false;                         ///< the cost of every step in every rank's report
  std::function<void(std::int64_t done)> on_step;  ///< if set, called on rank 0 after every step
};

/// A row of steps.csv. Seconds are busy seconds on this rank's lanes and may overlap; compute and exposed, both of the
/// main lane, sum to the step.
struct StepRow {
  std::int64_t step = 0;
  int rank = 0;
  double time_s = 0;  ///< when the step ended
  double loss = 0;    ///< of this rank's batch; NaN without one
  std::int64_t bytes_sent = 0;
  double compute_s = 0, encode_s = 0, wire_s = 0, decode_s = 0, exposed_s = 0;
};

/// A row of evals.csv: the weights of all ranks after `step` steps, or at a simulated time.
struct EvalRow {
  std::int64_t step = 0;          ///< of the rank that is furthest
  double time_s = 0;              ///< the time asked for, or when the last rank handed in its weights
  double loss = 0;                ///< objective at the mean model
  double accuracy = 0;            ///< at the mean model
  double worst_accuracy = 0;      ///< of the worst rank
  double consensus_distance = 0;  ///< √(1/n Σ‖x_i − x̄‖²)
  double bytes_sent = 0;          ///< in steps until then, mean over ranks
};

/// A span with the lane that it ran on. There may be millions, so none owns its name: that lives as long as the
/// process.
struct LaneSpan {
  int lane = 0;
  Activity activity = Activity::compute;
  std::string_view name;
  double begin = 0, end = 0;
  std::int64_t bytes = 0;
};

/// What one rank brings home.
struct RankReport {
  int rank = 0;
  std::vector<StepRow> steps;
  std::vector<EvalRow> evals;  ///< on the rank that completed them
  std::vector<LaneSpan> spans;
  std::int64_t steps_done = 0;
  Cost sent;                                ///< counted by the meters in all steps
  std::vector<Cost> cost_by_step;           ///< counted in each step, if kept
  Cost setup_and_finish;                    ///< counted outside steps
  std::int64_t local_batch = 0;             ///< 0: an empty shard
  double training_seconds = 0;              ///< first step's begin to last step's end
  std::vector<std::vector<float>> weights;  ///< by parameter, if kept
};

std::vector<std::byte> pack(const RankReport& report);
RankReport unpack(const std::vector<std::byte>& bytes);

/// This rank's workload with its share of the data. Throws UsageError.
std::unique_ptr<Workload> open_workload(const TrainingOptions& options, int rank, int world);

/// Checks that these options can run on that backend: names, keys, sizes, data, hierarchy. Throws UsageError.
void check(const TrainingOptions& options, const World& world, const Backend& backend);

/// One rank's whole training.
RankReport train(RankRuntime& runtime, const TrainingOptions& options);

/// check, then train on every rank; reports in rank order.
struct Training {
  std::vector<RankReport> ranks;
  double seconds = 0;
  nlohmann::json facts;
};
Training run_training(Backend& backend, const World& world, TrainingOptions options);

}  // namespace trigram
