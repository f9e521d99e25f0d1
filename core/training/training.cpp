#include "core/training/training.hpp"

#include <cmath>
#include <set>
#include <utility>

#include "core/lane/hierarchy.hpp"
#include "core/step/algorithm.hpp"
#include "core/step/optimizer.hpp"
#include "core/step/schedule.hpp"
#include "core/step/workload.hpp"
#include "core/values/error.hpp"
#include "core/values/memory.hpp"
#include "core/values/quoted.hpp"

namespace trigram {
namespace {

void check_numbers(const TrainingOptions& options, const World& world) {
  require(world.ranks >= 1, std::to_string(world.ranks) + " ranks cannot train; ask for 1 or more");
  static_cast<void>(world.layout());  // refuses lanes that cannot be
  require(options.steps >= 1, std::to_string(options.steps) + " steps are too few; ask for 1 or more");
  require(options.evaluate_every >= 0,
          "evaluations every " + std::to_string(options.evaluate_every) + " steps: ask for 0 or more");
  require(options.checkpoint.every >= 0,
          "checkpoints every " + std::to_string(options.checkpoint.every) + " steps: ask for 0 or more");
  constexpr std::int64_t most_batches = 1'000'000'000;
  require(options.accumulate >= 1 && options.accumulate <= most_batches / options.steps,
          std::to_string(options.accumulate) + " micro-batches in each of " + std::to_string(options.steps) +
              " steps: ask for 1 or more, and for no more than 1e9 in all steps");
  require(std::isfinite(options.evaluate_seconds) && options.evaluate_seconds >= 0,
          "evaluations every " + number_text(options.evaluate_seconds) + " seconds: ask for 0 or more");
  require(options.evaluate_every == 0 || options.evaluate_seconds == 0,
          "evaluations every " + std::to_string(options.evaluate_every) + " steps and every " +
              number_text(options.evaluate_seconds) + " seconds: ask for one of them");
  require(
      std::isfinite(options.learning_rate) && options.learning_rate >= 0,
      "a learning rate of " + number_text(options.learning_rate) + " cannot be used; give a finite one of 0 or more");
}

/// The nodes of the ranks of each data-parallel group; where groups are alike, once.
std::set<std::vector<int>> nodes_of_groups(const RankMap& map) {
  std::set<std::vector<int>> all;
  for (int rank = 0; rank < map.mesh().ranks(); ++rank) {
    if (map.mesh().coordinate(Mesh::data, rank) == 0) all.insert(map.nodes_of_group(rank));
  }
  return all;
}

void check_relaxation(const Algorithm& algorithm, const TrainingOptions& options, const RankMap& map) {
  const auto refuse = [&](Option option) {
    const Refusal reason = algorithm.refuses(option);
    require(reason.empty(), "algorithm '" + options.algorithm + "' refuses " + name_of(option) + ": " + reason);
  };
  if (options.relaxation.overlap) refuse(Option::overlap);
  if (options.relaxation.hierarchy == Hierarchy::leader) refuse(Option::leader);
  if (options.relaxation.hierarchy != Hierarchy::all_nics) return;
  refuse(Option::all_nics);
  const char* where = map.mesh().axes().size() > 1 ? " in each data-parallel group of the mesh" : "";
  for (const std::vector<int>& nodes : nodes_of_groups(map)) require_equal_nodes(nodes, where);
}

void check_roles(const Algorithm& algorithm, const TrainingOptions& options, const Mesh& mesh, const Backend& backend) {
  const std::string refusal = algorithm.asks() ? backend.refuses_asking() : "";
  require(refusal.empty(), "algorithm '" + options.algorithm + "' needs RPC between ranks: " + refusal);
  const int replicas = mesh.size(Mesh::data), servers = algorithm.servers(replicas);
  const bool has_lines = mesh.axes().size() > 1;
  require(servers < replicas, "algorithm '" + options.algorithm + "' makes " + std::to_string(servers) + " of " +
                                  std::to_string(replicas) +
                                  (has_lines ? " ranks of a data-parallel group" : " ranks") +
                                  " servers, which leaves none to train; ask for more ranks" +
                                  (has_lines ? " along data" : "") + " or for fewer servers");
}

void check_optimizer(const Algorithm& algorithm, const TrainingOptions& options) {
  if (options.optimizer.empty()) return;
  require(algorithm.uses_optimizer(), "algorithm '" + options.algorithm +
                                          "' updates weights by itself, so optimizer '" + options.optimizer +
                                          "' would do nothing; leave it out");
  Optimizers::make(options.optimizer);
}

/// Ranks of a simulation share this process; those of a real backend may be elsewhere, so each needs room for itself.
void check_memory(const TrainingOptions& options, const World& world, const Backend& backend, const Workload& workload,
                  const std::vector<BucketLayout>& buckets) {
  constexpr double row_of_a_step = 256;
  double weights = 0;
  for (const BucketLayout& bucket : buckets) {
    const auto elements = static_cast<double>(bucket.shape.phantom ? 0 : bucket.shape.count);
    weights += elements * static_cast<double>(size_of(bucket.shape.dtype));
  }
  const double buffers = options.accumulate > 1 ? 3 : 2;  // weights, gradients and their sum
  const double ranks = backend.simulated() ? world.ranks : 1;
  // Where one scores, the weights of all ranks lie as they came and as they are compared, beside their mean in f64, the
  // same in f32, and what the score computes on.
  const double compared = (2.0 * world.ranks + 4) * weights;
  std::string at;
  if (options.global_batch > 0) at = " at a global-batch of " + std::to_string(options.global_batch);
  if (options.buckets.alignment > 1)
    at += (at.empty() ? " at" : " and") + (" a bucket-alignment of " + std::to_string(options.buckets.alignment));
  require_memory(ranks * (workload.memory() + buffers * weights) + compared,
                 "workload " + in_quotes(options.workload) + ": " + number_text(ranks) +
                     " times the weights, gradients and activations of a rank" + at +
                     ", and what an evaluation compares,");
  const double steps = static_cast<double>(options.steps) * (options.record_all ? ranks : 1);
  require_memory(steps * row_of_a_step, "a record of " + number_text(steps) + " steps");
}

/// What is refused whoever computes gradients.
RankMap check_products(const Algorithm& algorithm, const TrainingOptions& options, const World& world,
                       const Backend& backend) {
  check_optimizer(algorithm, options);
  check_roles(algorithm, options, world.axes(), backend);
  backend.require_chunks(world, options.relaxation.hierarchy);
  RankMap map(world.axes(), backend.nodes(world.ranks));
  check_relaxation(algorithm, options, map);
  return map;
}

/// Optimizers, codecs and evaluation work in f32, and methods are tried with nothing else.
void check_types(const BucketPlan& plan, const std::string& owner) {
  for (const BucketLayout& bucket : plan.buckets) {
    require(
        bucket.shape.dtype == DType::f32, owner, "parameter ", [&] { return in_quotes(bucket.tensors[0].name); },
        " is of ", name_of(bucket.shape.dtype),
        ", but training works on f32 alone; keep parameters and gradients in f32, and round to ",
        name_of(bucket.shape.dtype), " where the model computes");
  }
}

void check_algorithm(const Algorithm& algorithm, const TrainingOptions& options, const World& world,
                     const BucketPlan& plan, const RankMap& map) {
  for (const std::vector<int>& nodes : nodes_of_groups(map))
    algorithm.check({placement(nodes, 0), options.relaxation.hierarchy, world.all_reduce, 0, plan.buckets, nodes,
                     options.relaxation.gradients, world.hierarchy_chunks});
}

}  // namespace

// Everything is checked here, before any rank starts.
Checked check(TrainingOptions options, const World& asked, const Backend& backend) {
  World world = asked;
  check_numbers(options, world);
  require(options.evaluate_seconds == 0 || backend.simulated(),
          "evaluations every so many seconds need a simulated clock; on a real one, ranks that reach a second in "
          "different steps would wait for each other: ask for steps");
  world.all_reduce = backend.all_reduce_here(asked.all_reduce);
  Schedules::make(options.schedule);
  const auto algorithm = Algorithms::make(options.algorithm);
  const RankMap map = check_products(*algorithm, options, world, backend);
  auto workload = open_workload(options, map.mesh(), 0);
  auto model = std::make_shared<const PlannedModel>(*workload, options);
  const BucketPlan& plan = model->plan;
  check_types(plan, "workload " + in_quotes(options.workload) + ": ");
  check_memory(options, world, backend, *workload, plan.buckets);
  check_algorithm(*algorithm, options, world, plan, map);
  return {std::move(options), std::move(world), std::move(workload), std::move(model)};
}

void check_loop(const TrainingOptions& options, const World& world, const Backend& backend, const BucketPlan& plan) {
  check_types(plan, "");
  backend.all_reduce_here(world.all_reduce);
  const auto algorithm = Algorithms::make(options.algorithm);
  check_algorithm(*algorithm, options, world, plan, check_products(*algorithm, options, world, backend));
}

Checked::Checked(TrainingOptions options, World world, std::unique_ptr<Workload> workload,
                 std::shared_ptr<const PlannedModel> model)
    : options_(std::move(options)),
      world_(std::move(world)),
      workload_(std::move(workload)),
      model_(std::move(model)) {}

double Training::rank_seconds(double until) const {
  if (ranks_since.empty()) return until * static_cast<double>(ranks.size());
  double all = 0;
  for (std::size_t i = 0; i < ranks_since.size() && ranks_since[i].second < until; ++i) {
    const double end = i + 1 < ranks_since.size() ? std::min(until, ranks_since[i + 1].second) : until;
    all += (end - ranks_since[i].second) * ranks_since[i].ranks;
  }
  return all;
}

Training run_training(Backend& backend, const Checked& checked) {
  Outcome outcome = backend.run(
      checked.world(), [&](RankRuntime& runtime) { return pack(train(runtime, checked.options(), checked.model())); });
  Training training{.ranks = {}, .seconds = outcome.seconds, .facts = outcome.facts};
  for (auto& bytes : outcome.results) training.ranks.push_back(unpack(std::exchange(bytes, {})));
  return training;
}

Training run_training(Backend& backend, const World& world, const TrainingOptions& options) {
  return run_training(backend, check(options, world, backend));
}

}  // namespace trigram
