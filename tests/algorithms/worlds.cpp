#include "tests/algorithms/worlds.hpp"

#include <algorithm>
#include <ostream>
#include <sstream>

#include "core/step/algorithm.hpp"

namespace trigram::testing {

void PrintTo(const Place& place, std::ostream* out) { *out << place.name; }

std::string threads(int ranks_per_node) { return "threads:ranks_per_node=" + std::to_string(ranks_per_node); }

std::string simulator(int ranks_per_node, const std::string& fidelity) {
  return "sim:nodes=8,gpus_per_node=" + std::to_string(ranks_per_node) + ",fidelity=" + fidelity;
}

std::vector<std::string> compositions() {
  std::vector<std::string> names = Algorithms::names();
  std::erase_if(names, [](const std::string& name) { return Algorithms::stands_for(name).empty(); });
  return names;
}

std::vector<std::string> honest_algorithms() {
  std::vector<std::string> names = Algorithms::own_names();
  std::erase_if(names, [](const std::string& name) { return name.starts_with("mutant/"); });
  return names;
}

std::vector<std::string> shipped_algorithms() {
  std::vector<std::string> names = Algorithms::own_names();
  std::erase_if(names, [](const std::string& name) { return Algorithms::describe(name).paper.empty(); });
  return names;
}

std::vector<std::string> probes() {
  std::vector<std::string> names;
  std::istringstream list(TRIGRAM_PROBES);
  for (std::string name; list >> name;) names.push_back(name);
  return names;
}

std::vector<std::string> others_than_probes() {
  std::vector<std::string> names = shipped_algorithms();
  const std::vector<std::string> taken = probes();
  std::erase_if(names, [&](const std::string& name) { return std::ranges::find(taken, name) != taken.end(); });
  return names;
}

TrainingOptions scripted(const std::string& algorithm, std::int64_t steps) {
  TrainingOptions options;
  options.algorithm = algorithm;
  options.workload = "scripted";
  options.steps = steps;
  options.evaluate_every = 1;
  options.learning_rate = 0.125;
  options.buckets.bytes = 40;
  options.keep_weights = true;
  options.keep_costs = true;
  return options;
}

Training train_on(const std::string& backend, int ranks, const TrainingOptions& options,
                  const std::string& all_reduce) {
  World world;
  world.ranks = ranks;
  world.bucket_lanes = 2;
  world.all_reduce = all_reduce;
  return run_training(*Backends::make(backend), world, options);
}

std::vector<double> mean_over_ranks(const std::vector<std::vector<float>>& values) {
  std::vector<double> mean(values.front().size(), 0.0);
  for (const auto& one : values) {
    for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += one[i] / static_cast<double>(values.size());
  }
  return mean;
}

std::vector<EvalRow> evaluations(const Training& training) { return trigram::evaluations(training.ranks); }

std::vector<BucketLayout> bucket_layouts(const TrainingOptions& options, int ranks) {
  const auto workload = open_workload(options, Mesh(ranks), 0);
  return plan_buckets(workload->parameters(), options.buckets, workload->phantom()).buckets;
}

Cost declared_cost(const std::string& backend, int ranks, const TrainingOptions& options, int rank, std::int64_t step) {
  const std::vector<int> nodes = Backends::make(backend)->nodes(ranks);
  const std::vector<BucketLayout> buckets = bucket_layouts(options, ranks);
  CostQuery query;
  query.place = placement(nodes, rank);
  query.hierarchy = options.relaxation.hierarchy;
  query.step = step;
  query.gradients = options.relaxation.gradients;
  query.buckets = buckets;
  query.node_of_rank = nodes;
  return Algorithms::make(options.algorithm)->cost(query);
}

}  // namespace trigram::testing
