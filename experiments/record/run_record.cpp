// One run and its files.
#include "experiments/record/run_record.hpp"

#include <atomic>
#include <memory>
#include <optional>
#include <set>

#include "core/step/algorithm.hpp"
#include "experiments/record/member_facts.hpp"
#include "experiments/record/progress.hpp"
#include "experiments/record/regime.hpp"
#include "experiments/record/report.hpp"
#include "experiments/record/report_file.hpp"
#include "experiments/record/result_files.hpp"
#include "experiments/record/resume/checkpoint_folder.hpp"
#include "experiments/record/resume/digest.hpp"
#include "experiments/record/resume/folder_lock.hpp"
#include "experiments/record/resume/stopped_run.hpp"
#include "experiments/record/run_watch.hpp"
#include "experiments/settings/build_facts.hpp"
#include "experiments/settings/job.hpp"
#include "experiments/workloads/data/read_file.hpp"
#include "processes/clock.hpp"
#include "processes/interruption.hpp"

namespace trigram {
namespace {

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
  if (const auto file = config.membership_file(); !file.empty()) paths.insert(file.string());
  for (const auto& [key, value] : config.backend.parameters.values()) {
    if (std::filesystem::is_regular_file(value, ignored)) paths.insert(value);
  }
  nlohmann::json digests = nlohmann::json::object();
  for (const std::string& path : paths) digests[path] = file_digest(path);
  return digests;
}

/// The folders of a run while it is made. Inside a study's, which is locked as a whole, it needs no lock of its own.
struct Place {
  Place(const RunConfig& config, bool of_study)
      : folder(config.out, {"steps.csv", "evals.csv", "epochs.csv", "trace.json", "run.json"}) {
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
    const auto training = [&config](int of) { return training_ranks(config.training, of); };
    if (!config.resume.empty()) from.emplace(config.resume, same, ranks, training);
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
  for (const char* name : {"goodput", "recovery_s", "lost_s"}) paths.push_back(std::string("membership.") + name);
  return paths;
}

void check_run(const RunConfig& config) {
  const auto backend = config.backend.make();
  const World world = world_of(config, *backend);
  check(config.training, world, *backend);
  if (const auto membership = membership_of(config))
    check_members(config.training, world, *backend, epochs_of(*membership, config, world.ranks));
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

/// What rank 0 of a run sends, and what would make it faster.
RunWatch::Said said_of(const Checked& checked, const RunConfig& config, const Backend& backend) {
  const World& world = checked.world();
  const std::shared_ptr<const Algorithm> algorithm = Algorithms::make(checked.options().algorithm);
  std::vector<int> nodes = RankMap(world.axes(), backend.nodes(world.ranks)).nodes_of_group(0);
  const auto bytes_of = [&checked, &world, algorithm, nodes = std::move(nodes)](std::int64_t step) {
    const TrainingOptions& options = checked.options();
    return static_cast<double>(
        algorithm
            ->cost({placement(nodes, 0), options.relaxation.hierarchy, world.all_reduce, step,
                    checked.model()->plan.buckets, nodes, options.relaxation.gradients, world.hierarchy_chunks})
            .bytes);
  };
  const auto& place = config.backend.parameters.values();
  const auto fidelity = place.find("fidelity");
  const bool exact = backend.simulated() && (fidelity == place.end() || fidelity->second == "exact");
  return {checked.options().steps, bytes_of,
          exact ? "--fidelity fluid simulates a collective as one set of flows, which takes far less" : ""};
}

/// Of all ranks, in all micro-batches.
std::int64_t samples_of_step(const Checked& checked) {
  return checked.workload().global_batch() * checked.options().accumulate;
}

/// Where ranks fail or the process is asked to end, on the process that writes files: those of what there is so far.
MemberTraining train_or_leave_rows(Backend& backend, const Checked& checked, const RunConfig& config,
                                   Membership* membership, const TellRemains& tell,
                                   const std::optional<RowsSoFar>& rows, const nlohmann::json& run) {
  std::optional<NotedInterruptions> noted;
  if (tell) noted.emplace();
  try {
    if (membership == nullptr) return {run_training(backend, checked), {}};
    return train_with_members(backend, checked.world(), checked.options(), *membership,
                              {config.detection_s, config.meeting_s});
  } catch (const std::exception& error) {
    if (!tell || backend.process_rank() != 0) throw;
    const Training training = rows->training();
    const auto folder = write_stopped_run(config.out, training, run, config.training.steps, error.what(),
                                          samples_of_step(checked), backend.simulated());
    const std::int64_t steps = folder.empty() ? 0 : training.ranks.front().steps_done;
    const auto checkpoint = config.checkpoint.empty() ? 0 : last_checkpoint(config.checkpoint);
    tell({folder, steps, config.training.steps, checkpoint});
    throw;
  }
}

}  // namespace

std::optional<nlohmann::json> record_run(const RunConfig& config, const std::string& identity,
                                         const TellRemains& tell) {
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
  std::optional<RowsSoFar> rows;
  if (tell) rows.emplace().ask_for(options);
  std::atomic<std::int64_t> steps_done{0};
  options.on_step = [&](std::int64_t done) {
    steps_done = done;
    if (config.progress) bar.show(done);
    require_no_interruption();
  };
  RunWatch::Said said;  // once it is checked what is sent
  if (tell)
    options.beside = [&](RankRuntime& runtime) { return std::make_shared<RunWatch>(runtime, steps_done, said); };
  // Its workload stays open, so that all ranks of this process train on the content whose digest is taken here.
  const Checked checked = check(options, world, *backend);
  nlohmann::json run = {{"identity", identity},
                        {"inputs", inputs(config)},
                        {"configuration", configuration(config, world)},
                        {"build", build_facts()},
                        {"workload", workload_facts(checked.workload())}};
  checkpoints.open(config, configuration_to_go_on(world, run["inputs"]), world.ranks);
  if (checkpoints.from) {
    run["resumed"] = {{"steps", checkpoints.from->steps()}};
    steps_done = checkpoints.from->steps();
  }
  if (tell) said = said_of(checked, config, *backend);
  const std::unique_ptr<Membership> membership = membership_of(config);
  if (membership) check_members(options, world, *backend, epochs_of(*membership, config, world.ranks));

  const double begin = seconds_now();
  const MemberTraining trained = train_or_leave_rows(*backend, checked, config, membership.get(), tell, rows, run);
  const Training& training = trained.training;
  const double wall = seconds_now() - begin;
  bar.finish();

  if (!records) return std::nullopt;
  run["backend"] = nlohmann::json::parse(training.facts);
  run["summary"] = summarize(training, samples_of_step(checked), backend->simulated());
  run["summary"]["wall_s"] = wall;
  run["error_bar"] = error_bar(config, run["summary"], static_cast<double>(training.ranks.front().steps_done));
  run["curve"] = curve(training);
  if (membership) run["membership"] = member_facts(trained.epochs, backend->simulated());
  run["weights"] = weights_facts(training);
  write_results(config.out, config.trace, world.layout(), training, run);
  return run;
}

}  // namespace trigram
