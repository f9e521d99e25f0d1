// The one training loop, the same on every backend.
#pragma once

#include <memory>
#include <vector>

#include "core/lane/worker.hpp"
#include "core/step/bucket.hpp"
#include "core/training/rank_report.hpp"
#include "core/training/training_options.hpp"

namespace trigram {

class Workload;

/// A workload's parameters and how they are fused. Ranks of a process that hold the same model share one: a
/// simulation of thousands would else spend its time and memory on copies of names and dimensions.
struct PlannedModel {
  /// What does not overlap with backward is ready all at once, and cut by no cycle.
  PlannedModel(const Workload& workload, const TrainingOptions& options);

  std::vector<Parameter> parameters;
  BucketPlan plan;
};

/// One rank's whole training, of options that `check` let pass. `first` is rank 0's model, and every rank's where all
/// ranks are along the data axis.
RankReport train(RankRuntime& runtime, const TrainingOptions& options, std::shared_ptr<const PlannedModel> first);

}  // namespace trigram
