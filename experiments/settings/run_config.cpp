// The flags of a run, declared by reading them.
#include "experiments/settings/run_config.hpp"

#include "core/algorithm.hpp"
#include "core/error.hpp"
#include "core/optimizer.hpp"
#include "core/quoted.hpp"
#include "experiments/settings/backend_choice.hpp"

namespace trigram {
namespace {

void read_place(Params& flags, RunConfig& config) {
  const BackendChoice choice(flags);
  config.backend = choice.backend;
  config.cluster = choice.cluster;
  config.world.ranks = choice.ranks;
  config.world.all_reduce =
      flags.get("all-reduce", "ring", "the algorithm behind all_reduce (trigram list all-reduces)");
  config.world.bucket_lanes = flags.get("lanes", 1, "communication lanes that carry buckets", {1, 1024});
}

std::string read_workload(Params& flags) {
  const std::string workload = flags.get("workload", "mlp", "what is trained (trigram list workloads)");
  const std::string profile =
      flags.get("profile", "", "a profile whose sizes and times a model borrows, as vgg16 (trigram list profiles)");
  return profile.empty() ? workload : "on_profile:model=(" + workload + "),profile=(" + profile + ")";
}

void read_training(Params& flags, TrainingOptions& training) {
  constexpr std::int64_t most = 1'000'000'000;  // of steps and samples, so that no product of two of them overflows
  training.algorithm = flags.get("algorithm", "all_reduce", "how ranks agree (trigram list algorithms)");
  training.workload = read_workload(flags);
  training.optimizer = flags.get("optimizer", "",
                                 "how gradients change weights (trigram list optimizers); sgd, unless the algorithm "
                                 "updates weights by itself");
  training.learning_rate = flags.get("lr", 0.1, "learning rate", {0, 1e30});
  training.schedule =
      flags.get("schedule", "constant", "how the learning rate goes on, as cosine:warmup=10 (trigram list schedules)");
  training.steps = flags.get("steps", std::int64_t{100}, "training steps", {1, most});
  training.global_batch =
      flags.get("global-batch", std::int64_t{0}, "samples a step over all ranks; 0: the workload's own", {0, most});
  training.label_skew = flags.get("label-skew", 0.0,
                                  "Dirichlet concentration of labels over ranks; 0: identically distributed", {0, 1e9});
  training.validation = flags.get("validation", false, "score on a split held out of the training set");
  training.evaluate_every =
      flags.get("evaluate-every", std::int64_t{0}, "steps between evaluations; 0: first and last only", {0, most});
  training.evaluate_seconds = flags.get("evaluate-seconds", "0s", Unit::seconds,
                                        "simulated time between evaluations, in place of steps; 0s: by steps");
  training.relaxation.seed =
      static_cast<std::uint64_t>(flags.get("seed", std::int64_t{1}, "seed of everything random"));
  training.relaxation.overlap = flags.get("overlap", true, "communicate beside backward where the algorithm can");
  training.relaxation.hierarchy = parse_hierarchy(flags.get("hierarchy", "none", "none, leader or all_nics"));
  training.buckets.bytes = static_cast<std::int64_t>(
      flags.get("bucket-size", "10MiB", Unit::bytes, "a bucket is closed at this size; 0: a bucket a parameter"));
  training.buckets.alignment =
      flags.get("bucket-alignment", std::int64_t{1}, "elements to which buckets are padded", {1, 1 << 30});
}

void read_record(Params& flags, RunConfig& config) {
  const std::string record = flags.get("record", "rank0", "rows of steps.csv: rank0 or all");
  require(
      record == "rank0" || record == "all", flags.owner(), ": record=", [&] { return shown(record); },
      " is neither rank0 nor all");
  config.training.record_all = record == "all";
  config.trace = flags.get("trace", false, "write trace.json, for Perfetto or chrome://tracing");
  config.training.keep_spans = config.world.keep_spans = config.trace;
  config.out = flags.get("out", "results/run", "folder of the result files");
  config.progress = flags.get("progress", false, "show steps on standard error while they pass");
}

void read_all(Params& flags, RunConfig& config) {
  read_place(flags, config);
  read_training(flags, config.training);
  read_record(flags, config);
}

/// Flags that change no result.
bool only_reports(const std::string& flag) { return flag == "out" || flag == "progress"; }

}  // namespace

RunConfig::RunConfig(const std::string& owner, const Settings& given) {
  Params flags(owner, "");
  for (const auto& [key, value] : given) flags.set(key, value);
  read_all(flags, *this);
  flags.reject_unknown();
  settings = with_defaults(flags);
  if (!flags.has("cluster") && !models_clusters(backend)) settings["cluster"].clear();
  if (training.optimizer.empty() && Algorithms::make(training.algorithm)->uses_optimizer())
    settings["optimizer"] = training.optimizer = default_optimizer;
}

std::unique_ptr<Backend> RunConfig::make_backend() const {
  Params parameters = cluster;
  return Backends::make(Spec::parse(backend).name, parameters);
}

std::string RunConfig::identity() const {
  std::string text;
  for (const auto& [key, value] : settings) {
    if (!only_reports(key)) text += key + "=" + value + "\n";
  }
  for (const auto& [key, value] : cluster.values()) text += "cluster." + key + "=" + value + "\n";
  return text;
}

const std::vector<Params::Declared>& run_flags() {
  static const std::vector<Params::Declared> flags = [] {
    Params none("trigram run", "cluster=");
    RunConfig unused("trigram run", {{"cluster", ""}});
    read_all(none, unused);
    std::vector<Params::Declared> declared = none.declared();
    declared.push_back({"config", "text", "", "a file of the same flags as key = value lines; flags win over it"});
    return declared;
  }();
  return flags;
}

Settings run_defaults() {
  Settings defaults;
  for (const Params::Declared& flag : run_flags()) {
    if (flag.key != "config") defaults[flag.key] = flag.fallback;
  }
  return defaults;
}

}  // namespace trigram
