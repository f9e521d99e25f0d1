// What is trained, how and for how long.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/lane/worker.hpp"
#include "core/step/bucket.hpp"
#include "core/step/workload.hpp"
#include "core/training/rank_report.hpp"

namespace trigram {

/// How ranks go on from what other members left, beside what each of them gets.
struct TakeUp {
  double after_s = 0;                ///< simulated seconds from then until they begin to go on
  std::vector<int> fetch_from = {};  ///< of each rank, from which other its bytes come; itself: it has them; empty: all
  bool as_phantom = false;           ///< bytes only cost time
};

/// Callbacks that save and load checkpoints. They are called on each rank, in its process.
struct CheckpointOptions {
  using Bytes = std::vector<std::byte>;
  std::int64_t every = 0;  ///< steps between two; 0: none
  bool at_end = false;     ///< one after the last step too, from which a longer training resumes
  bool keep = false;       ///< put the last checkpoint into every rank's report
  /// Takes the state of `rank` after so many steps. What it returns reaches `complete`.
  std::function<Bytes(std::int64_t steps, int rank, const Bytes& state)> save = {};
  /// Called on one rank once all have saved theirs, with what `save` returned, in rank order.
  std::function<void(std::int64_t steps, const std::vector<Bytes>& saved)> complete = {};
  /// The state from which a rank resumes, as `save` was given it, or as a Handover gives it; unset: training starts
  /// from the beginning.
  std::function<Bytes(int rank)> load = {};
  TakeUp take_up;
};

/// Everything that decides what a rank computes. Products are named by specs, so that each rank makes its own.
struct TrainingOptions {
  std::string algorithm = "all_reduce";
  std::string optimizer;  ///< empty: default_optimizer, or none where the algorithm updates by itself
  std::string workload = "mlp";
  std::int64_t steps = 100;
  std::int64_t until = 0;           ///< steps after which ranks end at a checkpoint, of all that there will be; 0: all
  std::int64_t evaluate_every = 0;  ///< steps between evaluations; 0: only before the first and after the last step
  double evaluate_seconds = 0;      ///< simulated seconds between evaluations, in place of steps; 0: by steps
  double learning_rate = 0.1;
  std::string schedule = "constant";  ///< a spec of Schedules: what the learning rate is multiplied by, step by step
  std::int64_t global_batch = 0;      ///< 0: the workload's own
  int accumulate = 1;  ///< micro-batches of `global_batch` per step, whose mean gradient is exchanged once
  double label_skew = 0;
  bool validation = false;
  BucketOptions buckets;
  Relaxation relaxation;
  bool record_all = false;    ///< step rows of every rank, else of rank 0
  bool keep_spans = false;    ///< spans for a trace
  bool keep_weights = false;  ///< final weights of every rank in its report
  bool keep_costs = false;    ///< the cost of every step in every rank's report
  CheckpointOptions checkpoint;
  std::function<void(std::int64_t done)> on_step;  ///< if set, called on rank 0 after every step
  /// If set, called for each row of steps.csv when its step has ended, with what the algorithm recorded in it, and for
  /// each evaluation when it is scored, in the process of the rank that has it. After a
  /// resume they are called again for rows of before the checkpoint.
  std::function<void(const StepRow& row, const Records& recorded)> on_row;
  std::function<void(const EvalRow& row)> on_evaluation;
  /// If set, called on rank 0 before its first step. The returned object is destroyed when the rank has trained; it may
  /// read meters from its own threads.
  std::function<std::shared_ptr<void>(RankRuntime& runtime)> beside;
};

/// "f32", "fp16", "bf16", as codecs are called. Throws UsageError.
DType parse_gradients(const std::string& text);

/// How many of the `replicas` ranks of a data-parallel group train, the first ones; the others are servers.
int training_ranks(const TrainingOptions& options, int replicas);

/// Whether ranks go on without one that is lost within a step: the algorithm bears it, and nobody waits for all ranks
/// of a node.
bool bears_absence(const TrainingOptions& options);

/// A rank's workload with its share of the data, by its place on the data axis; a server is given a share that it does
/// not use. Throws UsageError.
std::unique_ptr<Workload> open_workload(const TrainingOptions& options, const Mesh& mesh, int rank);

}  // namespace trigram
