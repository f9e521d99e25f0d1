// One run and its files.
#include "experiments/run_record.hpp"

#include <chrono>

#include "core/report.hpp"
#include "experiments/build_facts.hpp"
#include "experiments/job.hpp"
#include "experiments/progress.hpp"

namespace trigram {
namespace {

World world_of(const RunConfig& config, const Backend& backend) {
  World world = config.world;
  if (world.ranks == 0) world.ranks = backend.default_ranks();
  return world;
}

nlohmann::json configuration(const RunConfig& config, const World& world) {
  nlohmann::json json = {{"flags", config.settings}, {"cluster", config.cluster.values()}, {"ranks", world.ranks}};
  return json;
}

nlohmann::json workload_facts(const RunConfig& config, const World& world) {
  const auto workload = open_workload(config.training, 0, world.ranks);
  std::int64_t parameters = 0;
  for (const Parameter& parameter : workload->parameters()) parameters += parameter.modelled_count;
  return {{"description", workload->description()},
          {"global_batch", workload->global_batch()},
          {"modelled_parameters", parameters},
          {"phantom", workload->phantom()}};
}

/// What evals.csv says, with the bytes that a rank had sent on average by then.
nlohmann::json curve(const Training& training) {
  nlohmann::json points = nlohmann::json::array();
  for (const EvalRow& row : evaluations(training.ranks)) {
    points.push_back({{"step", row.step},
                      {"time_s", row.time_s},
                      {"loss", row.loss},
                      {"accuracy", row.accuracy},
                      {"bytes_mean", row.bytes_sent}});
  }
  return points;
}

/// run.json comes last: a folder that has one is whole.
void write_results(const RunConfig& config, const Training& training, const nlohmann::json& run) {
  std::error_code ignored;
  std::filesystem::remove(config.out / "run.json", ignored);
  write_file(config.out / "steps.csv", steps_csv(training.ranks));
  write_file(config.out / "evals.csv", evals_csv(training.ranks));
  if (config.trace) write_file(config.out / "trace.json", trace_json(training.ranks));
  write_file(config.out / "run.json", run.dump(2) + "\n");
}

}  // namespace

std::vector<std::string> measurable() {
  std::vector<std::string> paths;
  for (const std::string& name : summary_names()) {
    if (name != "busiest_nic") paths.push_back("summary." + name);
  }
  for (const char* name : {"busiest_nic.bytes", "busiest_nic.bytes_received", "busiest_nic.bytes_sent", "wall_s"})
    paths.push_back(std::string("summary.") + name);
  return paths;
}

void check_run(const RunConfig& config) {
  require_writable(config.out);
  const auto backend = config.make_backend();
  check(config.training, world_of(config, *backend), *backend);
}

std::optional<nlohmann::json> record_run(const RunConfig& config) {
  const auto backend = config.make_backend();
  require_ranks_of(*backend, "trigram run", config.backend);
  const bool records = backend->process_rank() == 0;
  if (records) require_writable(config.out);
  World world = world_of(config, *backend);
  world.configuration = same_on_all_ranks("run", config.settings, config.cluster);
  TrainingOptions options = config.training;
  ProgressBar bar(config.progress && records ? options.steps : 0, "steps");
  if (config.progress) options.on_step = [&bar](std::int64_t done) { bar.show(done); };

  const auto begin = std::chrono::steady_clock::now();
  const Training training = run_training(*backend, world, options);
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
  bar.finish();

  if (!records) return std::nullopt;
  nlohmann::json run = {
      {"configuration", configuration(config, world)}, {"build", build_facts()},         {"backend", training.facts},
      {"workload", workload_facts(config, world)},     {"summary", summarize(training)}, {"curve", curve(training)}};
  run["summary"]["wall_s"] = wall.count();
  write_results(config, training, run);
  return run;
}

}  // namespace trigram
