// One algorithm with one set of parameters on one number of ranks: its trainings and what it declares for them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/step/algorithm.hpp"
#include "core/training/backend.hpp"
#include "core/training/handover.hpp"
#include "core/training/training.hpp"

namespace trigram {

/// A way to train in a trial.
struct TrialRun {
  std::int64_t steps = 0;
  Hierarchy hierarchy = Hierarchy::none;
  bool overlap = true;  ///< where the algorithm does not refuse it
  std::string workload = "known_gradients";
  std::int64_t checkpoint_every = 0;               ///< 0: no checkpoints; else reports keep the last one
  const std::vector<RankReport>* go_on = nullptr;  ///< from the checkpoint in these reports
  const Handover* handover = nullptr;              ///< or from what other members hand over
};

class Trial {
 public:
  static constexpr double learning_rate = 0.125;
  static constexpr std::int64_t longest = 256;  ///< steps

  /// Throws UsageError for what no algorithm accepts.
  Trial(const std::string& spec, Backend& backend, int ranks);

  const std::string& spec() const { return spec_; }
  Backend& backend() const { return backend_; }
  int ranks() const { return ranks_; }
  /// By rank.
  const std::vector<int>& nodes() const { return nodes_; }
  /// Those that train: the first ones.
  int training_ranks() const { return ranks_ - algorithm_->servers(ranks_); }
  const Algorithm& algorithm() const { return *algorithm_; }
  bool synchronous() const { return algorithm_->trigram().synchrony == Trigram::Synchrony::synchronous; }
  bool decentralized() const { return algorithm_->trigram().centrality == Trigram::Centrality::decentralized; }
  bool refuses(Option option) const { return !algorithm_->refuses(option).empty(); }
  /// Whether there is a hierarchy: more nodes than one, one of them with more ranks than one.
  bool has_nodes() const;
  bool has_equal_nodes() const;

  /// Why no rank should start; empty when they may.
  std::string refusal(const TrialRun& run) const;
  /// An error of the training names the trial and what of it was trained.
  Training train(Backend& backend, const TrialRun& run) const;
  Training train(const TrialRun& run) const { return train(backend_, run); }

  Cost declared(const TrialRun& run, int rank, std::int64_t step) const;
  Invariants invariants(Hierarchy hierarchy) const;
  /// Whether some rank has a cost in that step.
  bool exchanges(std::int64_t step) const;
  /// The last of the first `steps` steps that exchanges.
  std::optional<std::int64_t> last_exchange(std::int64_t steps) const;
  /// So many that two exchanges are among them, one of an asynchronous method; at least 8 and at most `longest`.
  std::int64_t steps_with_exchanges() const;

 private:
  std::string describe(const TrialRun& run) const;
  TrainingOptions options_of(const TrialRun& run) const;
  CostQuery query_of(Hierarchy hierarchy, int rank, std::int64_t step) const;

  std::string spec_;
  Backend& backend_;
  int ranks_;
  std::vector<int> nodes_;
  std::unique_ptr<Algorithm> algorithm_;
  std::vector<BucketLayout> buckets_;
};

/// The final weights of each rank that trains, all parameters one after the other.
std::vector<std::vector<float>> weights_of(const Training& training);

}  // namespace trigram
