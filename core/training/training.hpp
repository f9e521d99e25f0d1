// A run: options are checked before any rank starts, then every rank trains.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/training/backend.hpp"
#include "core/training/rank_report.hpp"
#include "core/training/trainer.hpp"
#include "core/training/training_options.hpp"

namespace trigram {

/// Options that can run on a backend, as `check` has found, and what it opened to know: only it makes them.
class Checked {
 public:
  const TrainingOptions& options() const { return options_; }
  const World& world() const { return world_; }
  /// Rank 0's, open. While it lives, ranks of this process share its data.
  const Workload& workload() const { return *workload_; }
  /// Rank 0's, for all ranks that hold the same.
  const std::shared_ptr<const PlannedModel>& model() const { return model_; }

 private:
  friend Checked check(TrainingOptions options, const World& world, const Backend& backend);
  Checked(TrainingOptions options, World world, std::unique_ptr<Workload> workload,
          std::shared_ptr<const PlannedModel> model);

  TrainingOptions options_;
  World world_;
  std::unique_ptr<Workload> workload_;
  std::shared_ptr<const PlannedModel> model_;
};

/// Checks that these options can run on that backend: names, keys, sizes, data, mesh, hierarchy. Throws UsageError.
Checked check(TrainingOptions options, const World& world, const Backend& backend);

/// The same for a loop that is not ours and drives a TrainingStep on buckets of this plan: algorithm, optimizer and
/// what relaxes them; the other options are not looked at.
void check_loop(const TrainingOptions& options, const World& world, const Backend& backend, const BucketPlan& plan);

/// From that second on there were so many ranks.
struct RanksSince {
  double second = 0;
  int ranks = 0;
};

/// The results of all ranks, in rank order.
struct Training {
  std::vector<RankReport> ranks;
  double seconds = 0;                        ///< when the last rank ended, on the backend's clock
  std::string facts = "null";                ///< what only the backend knows, as JSON
  std::vector<RanksSince> ranks_since = {};  ///< where members changed; empty: those of `ranks` all the time
  /// What members that are gone used, less what newcomers' counts began with.
  double gone_busy_s = 0, gone_to_other_nodes = 0;

  /// Of all ranks that were there until then, busy or not.
  double rank_seconds(double until) const;
};

/// Trains on every rank of the backend that was checked.
Training run_training(Backend& backend, const Checked& checked);
/// check, then that.
Training run_training(Backend& backend, const World& world, const TrainingOptions& options);

}  // namespace trigram
