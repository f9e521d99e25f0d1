// Simulates measurements.
#include "experiments/fit/predictor.hpp"

#include <poll.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "core/lane/hierarchy.hpp"
#include "core/training/training.hpp"
#include "core/values/error.hpp"
#include "core/values/located.hpp"
#include "core/values/packing.hpp"
#include "core/values/quoted.hpp"
#include "experiments/measure/bench_time.hpp"
#include "experiments/record/regime.hpp"
#include "experiments/record/report.hpp"
#include "experiments/settings/run_config.hpp"
#include "experiments/settings/system.hpp"
#include "processes/child_process.hpp"

namespace trigram {
namespace {

RunConfig config_of(const PlannedMeasurement& planned) {
  Settings settings = layered(Settings{{"fidelity", "fluid"}, {"steps", "4"}}, {{"cluster", planned.cluster}});
  for (const auto& [key, value] : planned.parameters) settings["cluster." + key] = value;
  settings = layered(settings, planned.row->settings);
  return located(planned.row->place,
                 [&] { return RunConfig("the run", resolved(with_system(settings, run_flags()), run_defaults())); });
}

World world_on(const RunConfig& config, const Backend& backend) {
  World world = config.world;
  world.ranks = config.backend.ranks_on(backend);
  return world;
}

Predicted step_of(const RunConfig& config) {
  const auto backend = config.backend.make();
  const Checked checked = trigram::check(config.training, world_on(config, *backend), *backend);
  const Training training = run_training(*backend, checked);
  const nlohmann::json summary = summarize(training, checked.workload().global_batch());
  const auto steps = static_cast<double>(training.ranks.front().steps_done);
  return {summary.at("iteration_s"), regime_of(summary, steps, config.backend.parameters),
          summary.at("bytes_per_step_mean"), summary.at("bytes_per_step_between_nodes"),
          summary.at("breakdown").at("exposed_s")};
}

BenchCase bench_of(const Measurement& row, const RunConfig& config) {
  const BenchOp* op = located(row.place + "column 'op': ", [&] { return &find_bench_op(row.op); });
  const double bytes =
      located(row.place + "column 'size': ", [&] { return parse_quantity(row.size, Unit::message_bytes); });
  constexpr double element = 4;
  require(bytes >= element || !op->sized, row.place, "column 'size': ", shown(row.size),
          " is less than one element, 4B");
  const Hierarchy hierarchy = row.op == "all_reduce" ? config.training.relaxation.hierarchy : Hierarchy::none;
  return {*op, hierarchy, op->sized ? static_cast<std::int64_t>(bytes / element) : 0};
}

Predicted collective_of(const BenchCase& bench, const RunConfig& config) {
  const auto backend = config.backend.make();
  const BenchCase smallest{bench.op, bench.hierarchy, std::min<std::int64_t>(1, bench.elements)};
  const Outcome outcome = backend->run(world_on(config, *backend), [&](RankRuntime& runtime) {
    Packer packer;
    packer.put(phantom_seconds(runtime, bench));
    packer.put(phantom_seconds(runtime, smallest));
    return std::move(packer).bytes();
  });
  double longest = 0, longest_of_smallest = 0;
  for (const auto& bytes : outcome.results) {
    Unpacker unpacker(bytes);
    longest = std::max(longest, unpacker.take<double>());
    longest_of_smallest = std::max(longest_of_smallest, unpacker.take<double>());
  }
  return {longest, regime_of(longest, longest_of_smallest)};
}

Predicted simulated(const Measurement& row, const RunConfig& config) {
  Predicted predicted = row.op.empty() ? step_of(config) : collective_of(bench_of(row, config), config);
  if (const auto bar = config.backend.error_bars.of(predicted.regime)) predicted.error = bar->error;
  return predicted;
}

/// One simulation in a process of its own.
struct Simulated {
  std::string identity;
  const Measurement* row;
  std::unique_ptr<ChildProcess> process;
};

std::unique_ptr<ChildProcess> start(const Measurement& row, RunConfig config) {
  return std::make_unique<ChildProcess>("a simulation", [&row, config = std::move(config)](HomeLine& home) {
    Packer packer;
    packer.put(simulated(row, config));
    home.send_result(std::move(packer).bytes());
  });
}

void read_until_one_ends(std::vector<Simulated>& running) {
  std::vector<pollfd> pipes;
  for (const Simulated& one : running) pipes.push_back({one.process->pipe(), POLLIN, 0});
  ::poll(pipes.data(), pipes.size(), -1);
  for (std::size_t i = 0; i < running.size(); ++i) {
    if (pipes[i].revents != 0) running[i].process->read_some();
  }
}

}  // namespace

void Predictor::check(const PlannedMeasurement& planned) const {
  const RunConfig config = config_of(planned);
  located(planned.row->place, [&] {
    const auto backend = config.backend.make();
    const World world = world_on(config, *backend);
    if (planned.row->op.empty()) {
      trigram::check(config.training, world, *backend);
      return;
    }
    backend->require_chunks(world, config.training.relaxation.hierarchy);
    const std::vector<int> nodes = backend->nodes(world.ranks);
    if (config.training.relaxation.hierarchy == Hierarchy::all_nics) require_equal_nodes(nodes, "");
  });
  if (!planned.row->op.empty()) bench_of(*planned.row, config);
}

std::vector<Predicted> Predictor::predict(const std::vector<PlannedMeasurement>& planned) {
  std::vector<std::string> identities;
  std::set<std::string> started;
  std::vector<Simulated> running;
  const auto collect = [&] {
    read_until_one_ends(running);
    std::erase_if(running, [&](const Simulated& one) {
      if (!one.process->ended()) return false;
      known_[one.identity] = located(one.row->place, [&] { return Unpacker(one.process->result()).take<Predicted>(); });
      return true;
    });
  };
  for (const PlannedMeasurement& one : planned) {
    RunConfig config = config_of(one);
    identities.push_back(config.identity() + "op=" + one.row->op + "\nsize=" + one.row->size + "\n");
    if (known_.contains(identities.back()) || !started.insert(identities.back()).second) continue;
    while (static_cast<int>(running.size()) >= jobs_) collect();
    running.push_back({identities.back(), one.row, start(*one.row, std::move(config))});
  }
  while (!running.empty()) collect();
  std::vector<Predicted> all;
  for (const std::string& identity : identities) all.push_back(known_.at(identity));
  return all;
}

}  // namespace trigram
