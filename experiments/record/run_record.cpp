// One run and its files.
#include "experiments/record/run_record.hpp"

#include <optional>
#include <set>

#include "core/algorithm.hpp"
#include "experiments/record/checkpoint_folder.hpp"
#include "experiments/record/digest.hpp"
#include "experiments/record/expenses.hpp"
#include "experiments/record/folder_lock.hpp"
#include "experiments/record/progress.hpp"
#include "experiments/record/regime.hpp"
#include "experiments/record/report.hpp"
#include "experiments/record/report_file.hpp"
#include "experiments/settings/build_facts.hpp"
#include "experiments/settings/job.hpp"
#include "experiments/workloads/data/read_file.hpp"
#include "processes/clock.hpp"

namespace trigram {
namespace {

/// Words from elsewhere, as a platform's, may be no UTF-8; a finished training is not lost to them.
std::string text_of(const nlohmann::json& json) {
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

World world_of(const RunConfig& config, const Backend& backend) {
  World world = config.world;
  if (world.ranks == 0) world.ranks = backend.default_ranks();
  return world;
}

nlohmann::json configuration(const RunConfig& config, const World& world) {
  nlohmann::json json = {
      {"flags", config.settings}, {"cluster", config.backend.parameters.values()}, {"ranks", world.ranks}};
  json["algorithm"] = Algorithms::expanded(config.training.algorithm);
  return json;
}

nlohmann::json workload_facts(const Workload& workload) {
  std::int64_t parameters = 0;
  for (const Parameter& parameter : workload.parameters()) parameters += parameter.modelled_count;
  return {{"description", workload.description()},
          {"global_batch", workload.global_batch()},
          {"modelled_parameters", parameters},
          {"phantom", workload.phantom()}};
}

/// The content of all files that decide the results: those that the workload read, and those that the cluster names.
nlohmann::json inputs(const RunConfig& config) {
  std::set<std::string> paths = files_read();
  std::error_code ignored;
  for (const auto& [key, value] : config.backend.parameters.values()) {
    if (std::filesystem::is_regular_file(value, ignored)) paths.insert(value);
  }
  nlohmann::json digests = nlohmann::json::object();
  for (const std::string& path : paths) digests[path] = file_digest(path);
  return digests;
}

/// What evals.csv says, with the bytes that a rank had sent on average by then.
nlohmann::json curve(const Training& training) {
  const std::vector<Expense> expenses = expenses_of(training);
  nlohmann::json points = nlohmann::json::array();
  for (const EvalRow& row : evaluations(training.ranks)) {
    points.push_back({{"step", row.step},
                      {"time_s", row.time_s},
                      {"loss", row.loss},
                      {"accuracy", row.accuracy},
                      {"bytes_mean", row.bytes_sent}});
    for (const Expense& expense : expenses) points.back()[expense.name] = expense.of(used_until(row, training));
  }
  return points;
}

/// All files are whole before the first one takes its place; run.json goes first and comes last: a folder that has one
/// is whole.
void write_results(const RunConfig& config, const LaneLayout& layout, const Training& training,
                   const nlohmann::json& run) {
  std::vector<NewFile> files;
  const auto add = [&](const char* name) -> NewFile& { return files.emplace_back(config.out / name); };
  add("steps.csv").write(steps_csv(training));
  add("evals.csv").write(evals_csv(training));
  if (config.trace) {
    NewFile& trace = add("trace.json");
    write_trace(training.ranks, layout, [&](std::string_view piece) { trace.write(piece); });
  }
  add("run.json").write(text_of(run));
  std::error_code ignored;
  std::filesystem::remove(config.out / "run.json", ignored);
  if (!config.trace) std::filesystem::remove(config.out / "trace.json", ignored);
  for (NewFile& file : files) file.keep();
}

/// The folders of a run while it is made. Inside a study's, which is locked as a whole, it needs no lock of its own.
struct Place {
  Place(const RunConfig& config, bool of_study)
      : folder(config.out, {"steps.csv", "evals.csv", "trace.json", "run.json"}) {
    if (!of_study) lock.emplace(config.out, "a run");
    if (config.checkpoint.empty()) return;
    checkpoints.emplace(config.checkpoint, std::vector<std::string>{"checkpoint-1.json"});
    checkpoints_lock.emplace(config.checkpoint, "a run");
  }
  ResultFolder folder;
  std::optional<FolderLock> lock;
  std::optional<ResultFolder> checkpoints;
  std::optional<FolderLock> checkpoints_lock;
};

/// What a run that goes on must have alike: settings and the content of files, but not where checkpoints are.
Configuration configuration_to_go_on(const World& world, const nlohmann::json& inputs) {
  Configuration same = world.configuration;
  if (world.axes().axes().size() == 1) same["mesh"] = "";  // data alone, said or not
  for (const char* flag : {"checkpoint", "checkpoint-every", "resume"}) same.erase(flag);
  if (const auto found = same.find("algorithm"); found != same.end())
    found->second = Algorithms::expanded(found->second);
  for (const auto& [path, digest] : inputs.items()) same["content of " + path] = digest;
  return same;
}

/// The checkpoints of a run, which ranks reach by its options.
struct Checkpoints {
  std::optional<CheckpointFolder> to;
  std::optional<FoundCheckpoint> from;

  void ask_for(TrainingOptions& options, const RunConfig& config) {
    CheckpointOptions& asked = options.checkpoint;
    asked.at_end = true;
    asked.save = [this](std::int64_t steps, int rank, const auto& state) { return to->write(steps, rank, state); };
    asked.complete = [this](std::int64_t steps, const auto& written) { to->keep(steps, written); };
    if (!config.resume.empty()) asked.load = [this](int rank) { return from->state(rank); };
  }
  /// Throws UsageError, before any rank starts.
  void open(const RunConfig& config, const Configuration& same, int ranks) {
    if (!config.resume.empty()) from.emplace(config.resume, same, ranks);
    if (config.checkpoint.empty()) return;
    require_no_other_checkpoints(config.checkpoint, config.resume);
    to.emplace(config.checkpoint, same);
  }
};

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
  const auto backend = config.backend.make();
  check(config.training, world_of(config, *backend), *backend);
}

namespace {

/// Of the iteration's time; null where nothing is predicted, or the cluster is not calibrated.
nlohmann::json error_bar(const RunConfig& config, const nlohmann::json& summary, double steps) {
  if (config.backend.error_bars.text().empty()) return nullptr;
  const Regime regime = regime_of(summary, steps, config.backend.parameters);
  const std::optional<ErrorBar> bar = config.backend.error_bars.of(regime);
  if (!bar) return nullptr;
  return {{"error", bar->error}, {"rows", bar->rows}, {"regime", name_of(regime)}};
}

}  // namespace

std::optional<nlohmann::json> record_run(const RunConfig& config, const std::string& identity) {
  const auto backend = config.backend.make();
  require_ranks_of(*backend, "trigram run", config.backend);
  const bool records = backend->process_rank() == 0;
  std::optional<Place> place;
  if (records) place.emplace(config, /*of_study=*/!identity.empty());
  World world = world_of(config, *backend);
  world.configuration = same_on_all_ranks("run", config.settings, config.backend);
  TrainingOptions options = config.training;
  ProgressBar bar(config.progress && records ? options.steps : 0, "steps");
  Checkpoints checkpoints;
  checkpoints.ask_for(options, config);
  if (config.progress) options.on_step = [&bar](std::int64_t done) { bar.show(done); };
  // Its workload stays open, so that all ranks of this process train on the content whose digest is taken here.
  const Checked checked = check(options, world, *backend);
  nlohmann::json run = {{"identity", identity},
                        {"inputs", inputs(config)},
                        {"configuration", configuration(config, world)},
                        {"build", build_facts()},
                        {"workload", workload_facts(checked.workload())}};
  checkpoints.open(config, configuration_to_go_on(world, run["inputs"]), world.ranks);
  if (checkpoints.from) run["resumed"] = {{"steps", checkpoints.from->steps()}};

  const double begin = seconds_now();
  const Training training = run_training(*backend, checked);
  const double wall = seconds_now() - begin;
  bar.finish();

  if (!records) return std::nullopt;
  run["backend"] = nlohmann::json::parse(training.facts);
  run["summary"] = summarize(training, checked.workload().global_batch() * config.training.accumulate);
  run["summary"]["wall_s"] = wall;
  run["error_bar"] = error_bar(config, run["summary"], static_cast<double>(training.ranks.front().steps_done));
  run["curve"] = curve(training);
  write_results(config, world.layout(), training, run);
  return run;
}

}  // namespace trigram
