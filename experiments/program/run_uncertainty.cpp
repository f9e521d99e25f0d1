#include "experiments/program/run_uncertainty.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "experiments/record/arithmetic.hpp"
#include "experiments/record/report_file.hpp"

namespace trigram {
namespace {

constexpr int at_a_time = 2;

Settings with_steps(Settings flags, std::int64_t steps) {
  flags["steps"] = std::to_string(steps);
  return flags;
}

bool varies(const Settings& flags, const nlohmann::json& run, const RunConfig& config) {
  return run["workload"]["phantom"].get<bool>() && config.membership.empty() && config.backend.make()->simulated() &&
         !uncertain_parameters(flags).empty();
}

/// As many steps of a draw as make all draws as long as the run, but not so few that the first one decides.
std::int64_t short_steps(std::int64_t steps, int draws) {
  constexpr std::int64_t fewest = 4;
  return std::min(steps, std::max(fewest, at_a_time * steps / draws));
}

bool within(double value, double of, double share) { return std::abs(value - of) <= share * of; }

/// Whether so few steps of a run are as its own are.
bool stands_for(const Predicted& few, const nlohmann::json& summary) {
  constexpr double of_seconds = 0.05, of_bytes = 0.01;
  return within(few.seconds, summary["iteration_s"], of_seconds) &&
         within(few.bytes, summary["bytes_per_step_mean"], of_bytes);
}

std::string keep(const UncertainTime& time, const RunUncertaintyFlags& uncertainty, const RunConfig& config,
                 std::int64_t steps, nlohmann::json& run) {
  const double arithmetic =
      arithmetic_seconds(run["summary"], static_cast<double>(config.training.steps), config.backend.parameters);
  run["uncertainty"] = uncertainty_facts(time, uncertainty, arithmetic);
  run["uncertainty"]["steps"] = steps;
  write_file(config.out / "run.json", run.dump(1) + "\n");
  return uncertainty_lines(time, uncertainty, config.place.where(), arithmetic);
}

}  // namespace

RunUncertaintyFlags::RunUncertaintyFlags(Params& flags)
    : UncertaintyFlags(flags, 32,
                       "draws from the ranges that files of clusters and systems state (25us in 15us..60us), to give a "
                       "median and ranges that hold: whole runs where it is given; else 32 short ones, of a profile "
                       "whose short runs are as its own; 0: none") {}

std::string draw_uncertainty(const Settings& flags, const RunUncertaintyFlags& uncertainty, const RunConfig& config,
                             nlohmann::json& run) {
  const Draws draws = uncertainty.with(at_a_time);
  const std::int64_t all = config.training.steps;
  if (uncertainty.given) return keep(uncertain_times({{flags, "", ""}}, draws).front(), uncertainty, config, all, run);
  if (!varies(flags, run, config)) return "";
  const std::int64_t steps = short_steps(all, draws.count);
  const UncertainQuestion question{with_steps(flags, steps), "", ""};
  const Predicted as_written = predicted_as_written(question);
  if (!stands_for(as_written, run["summary"]))
    return "  range      not drawn, since " + std::to_string(steps) +
           " steps take or send other than all do; --uncertainty 32 draws whole runs\n";
  const double factor = run["summary"]["iteration_s"].get<double>() / as_written.seconds;
  return keep(times(uncertain_times({question}, draws).front(), factor), uncertainty, config, steps, run);
}

}  // namespace trigram
