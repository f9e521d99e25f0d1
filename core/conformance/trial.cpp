#include "core/conformance/trial.hpp"

#include <algorithm>

#include "core/values/error.hpp"

namespace trigram {
namespace {

constexpr std::int64_t bucket_bytes = 40;  // three buckets of several parameters

World world_of(int ranks) {
  World world;
  world.ranks = ranks;
  world.bucket_lanes = 2;
  return world;
}

}  // namespace

Trial::Trial(const std::string& spec, Backend& backend, int ranks)
    : spec_(spec), backend_(backend), ranks_(ranks), nodes_(backend.nodes(ranks)), algorithm_(Algorithms::make(spec)) {
  const TrainingOptions options = options_of({.steps = 1});
  const auto workload = open_workload(options, Mesh(ranks), 0);
  buckets_ = plan_buckets(workload->parameters(), options.buckets, false).buckets;
}

bool Trial::has_nodes() const {
  const Placement first = placement(nodes_, 0);
  return first.nodes > 1 && first.nodes < ranks_;
}

bool Trial::has_equal_nodes() const {
  const int first = placement(nodes_, 0).node_size;
  for (int rank = 0; rank < ranks_; ++rank) {
    if (placement(nodes_, rank).node_size != first) return false;
  }
  return true;
}

TrainingOptions Trial::options_of(const TrialRun& run) const {
  TrainingOptions options;
  options.algorithm = spec_;
  options.workload = run.workload;
  options.steps = run.steps;
  options.evaluate_every = 1;
  options.learning_rate = learning_rate;
  options.buckets.bytes = bucket_bytes;
  options.keep_weights = true;
  options.keep_costs = true;
  options.relaxation.seed = 42;
  options.relaxation.hierarchy = run.hierarchy;
  options.relaxation.overlap = run.overlap && !refuses(Option::overlap);
  options.checkpoint.every = run.checkpoint_every;
  options.checkpoint.keep = true;
  if (run.go_on != nullptr) {
    options.checkpoint.load = [&of = *run.go_on](int rank) { return of[static_cast<std::size_t>(rank)].state; };
  }
  if (run.handover != nullptr) options.checkpoint.load = [&of = *run.handover](int rank) { return of.of(rank); };
  return options;
}

std::string Trial::refusal(const TrialRun& run) const {
  try {
    check(options_of(run), world_of(ranks_), backend_);
    return {};
  } catch (const UsageError& error) {
    return error.what();
  }
}

Training Trial::train(Backend& backend, const TrialRun& run) const {
  const std::string where = describe(run) + ": ";
  try {
    return run_training(backend, world_of(ranks_), options_of(run));
  } catch (const UsageError& error) {
    throw UsageError(where + error.what());
  } catch (const BackendError& error) {
    throw BackendError(where + error.what());
  } catch (const Error& error) {
    throw Error(where + error.what());
  }
}

std::string Trial::describe(const TrialRun& run) const {
  std::string text = spec_ + " on " + std::to_string(ranks_) + (ranks_ == 1 ? " rank, " : " ranks, ") +
                     std::to_string(run.steps) + " steps of " + run.workload;
  if (run.hierarchy != Hierarchy::none) text += ", with hierarchy " + std::string(name_of(run.hierarchy));
  if (!run.overlap) text += ", without overlap";
  if (run.checkpoint_every > 0) text += ", a checkpoint after " + std::to_string(run.checkpoint_every);
  if (run.handover != nullptr) text += ", from other members on";
  return run.go_on == nullptr ? text : text + ", from it on";
}

CostQuery Trial::query_of(Hierarchy hierarchy, int rank, std::int64_t step) const {
  CostQuery query;
  query.place = placement(nodes_, rank);
  query.hierarchy = hierarchy;
  query.step = step;
  query.buckets = buckets_;
  query.node_of_rank = nodes_;
  return query;
}

Cost Trial::declared(const TrialRun& run, int rank, std::int64_t step) const {
  return algorithm_->cost(query_of(run.hierarchy, rank, step));
}

Invariants Trial::invariants(Hierarchy hierarchy) const { return algorithm_->invariants(query_of(hierarchy, 0, 0)); }

bool Trial::exchanges(std::int64_t step) const {
  for (int rank = 0; rank < ranks_; ++rank) {
    if (declared({}, rank, step).rounds > 0) return true;
  }
  return false;
}

std::int64_t Trial::steps_with_exchanges() const {
  constexpr std::int64_t shortest = 8;
  if (ranks_ == 1) return shortest;
  const int wanted = synchronous() ? 2 : 1;
  int found = 0;
  for (std::int64_t step = 0; step < longest; ++step) {
    found += exchanges(step) ? 1 : 0;
    if (found >= wanted && step + 1 >= shortest) return step + 1;
  }
  return found > 0 ? longest : shortest;
}

std::optional<std::int64_t> Trial::last_exchange(std::int64_t steps) const {
  for (std::int64_t step = steps - 1; step >= 0; --step) {
    if (exchanges(step)) return step;
  }
  return std::nullopt;
}

std::vector<std::vector<float>> weights_of(const Training& training) {
  std::vector<std::vector<float>> all;
  for (const RankReport& report : training.ranks) {
    if (report.steps_done == 0) continue;
    std::vector<float>& flat = all.emplace_back();
    for (const auto& parameter : report.weights) flat.insert(flat.end(), parameter.begin(), parameter.end());
  }
  return all;
}

}  // namespace trigram
