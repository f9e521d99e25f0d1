// Simulates measurements.
#include "experiments/fit/predictions/predictor.hpp"

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "core/lane/hierarchy.hpp"
#include "core/training/training.hpp"
#include "core/values/error.hpp"
#include "core/values/located.hpp"
#include "core/values/packing.hpp"
#include "core/values/quoted.hpp"
#include "experiments/fit/predictions/prediction_folder.hpp"
#include "experiments/measure/bench_time.hpp"
#include "experiments/record/regime.hpp"
#include "experiments/record/report.hpp"
#include "experiments/record/resume/digest.hpp"
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

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

/// Of what others make, or find, the program's digest is a part, which takes a while to compute.
std::string identity_of(const PlannedMeasurement& planned, const RunConfig& config, const PredictionSource& source) {
  const bool alone = source.makes && source.kept.empty();
  return digest(config.identity() + "op=" + planned.row->op + "\nsize=" + planned.row->size + "\n" +
                (alone ? "" : program_digest()));
}

/// One simulation in a process of its own.
struct Simulated {
  std::string identity;
  const Measurement* row;
  std::unique_ptr<ChildProcess> process;
  Clock::time_point begin = Clock::now();
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

bool Predictor::knows(const std::string& identity) {
  if (known_.contains(identity)) return true;
  if (source_.kept.empty()) return false;
  const std::optional<Predicted> found = PredictionFolder(source_.kept).find(identity);
  if (found) known_[identity] = *found;
  return found.has_value();
}

void Predictor::add(const std::string& identity, const Predicted& predicted) {
  known_[identity] = predicted;
  if (!source_.kept.empty()) PredictionFolder(source_.kept).keep(identity, predicted);
}

std::vector<Predicted> Predictor::predict(const std::vector<PlannedMeasurement>& planned) {
  std::vector<std::string> identities;
  std::set<std::string> started;
  std::vector<Simulated> running;
  std::vector<PredictionTask> missing;
  const auto collect = [&] {
    read_until_one_ends(running);
    std::erase_if(running, [&](const Simulated& one) {
      if (!one.process->ended()) return false;
      add(one.identity, located(one.row->place, [&] { return Unpacker(one.process->result()).take<Predicted>(); }));
      if (tell_) tell_(one.identity, seconds_since(one.begin));
      return true;
    });
  };
  for (const PlannedMeasurement& one : planned) {
    RunConfig config = config_of(one);
    identities.push_back(identity_of(one, config, source_));
    if (knows(identities.back()) || !started.insert(identities.back()).second) continue;
    if (!source_.makes) {
      missing.push_back({*one.row, one.cluster, one.parameters, identities.back()});
      continue;
    }
    while (static_cast<int>(running.size()) >= source_.jobs) collect();
    running.push_back({identities.back(), one.row, start(*one.row, std::move(config))});
  }
  while (!running.empty()) collect();
  if (!missing.empty()) throw MissingPredictions(std::move(missing));
  std::vector<Predicted> all;
  for (const std::string& identity : identities) all.push_back(known_.at(identity));
  return all;
}

}  // namespace trigram
