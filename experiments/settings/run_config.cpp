// The flags of a run, declared by reading them.
#include "experiments/settings/run_config.hpp"

#include <algorithm>
#include <string_view>

#include "core/members/membership.hpp"
#include "core/step/algorithm.hpp"
#include "core/step/optimizer.hpp"
#include "core/values/error.hpp"
#include "core/values/quoted.hpp"

namespace trigram {
namespace {

/// Of steps and samples, so that no product of two of them overflows.
constexpr std::int64_t most_steps = 1'000'000'000;

/// What --help shows flags below.
constexpr const char *what_is_trained = "what is trained", *where_it_runs = "where it runs",
                     *how_it_communicates = "how it communicates", *what_is_kept = "what is kept";
constexpr std::string_view groups[] = {what_is_trained, where_it_runs, how_it_communicates, what_is_kept};

World read_world(Params& flags) {
  World world;
  world.all_reduce = flags.get("all-reduce", "ring", "the algorithm behind all_reduce (trigram list all-reduces)");
  world.mesh = flags.get("mesh", "",
                         "axes of ranks, the last one of neighbours, as data=4,expert=2: replicas along data, and what "
                         "the workload spreads along expert or tensor; all are replicas unless it is given");
  world.bucket_lanes = flags.get("lanes", 1, "communication lanes that carry buckets", {1, 1024});
  world.hierarchy_chunks = read_hierarchy_chunks(flags);
  return world;
}

std::string read_workload(Params& flags) {
  const std::string workload = flags.get("workload", "mlp", "what is trained (trigram list workloads)");
  const std::string profile =
      flags.get("profile", "",
                "a profile whose sizes and times a model borrows, as vgg16 (trigram list profiles), or a file, as "
                "mine.csv");
  return profile.empty() ? workload : "on_profile:model=(" + workload + "),profile=(" + profile_workload(profile) + ")";
}

void read_what_is_trained(Params& flags, TrainingOptions& training) {
  training.workload = read_workload(flags);
  training.optimizer = flags.get("optimizer", "",
                                 "how gradients change weights (trigram list optimizers); sgd, unless the algorithm "
                                 "updates weights by itself");
  training.learning_rate = flags.get("lr", 0.1, "learning rate", {0, 1e30});
  training.schedule =
      flags.get("schedule", "constant", "how the learning rate changes, as cosine:warmup=10 (trigram list schedules)");
  training.steps = flags.get("steps", std::int64_t{100}, "training steps", {1, most_steps});
  training.global_batch = flags.get("global-batch", std::int64_t{0},
                                    "samples a step over all replicas; 0: the workload's own", {0, most_steps});
  training.accumulate =
      flags.get("accumulate", 1, "micro-batches a step, each of the global batch; one exchange of their mean gradient",
                {1, 1'000'000});
  training.label_skew = flags.get("label-skew", 0.0,
                                  "Dirichlet concentration of labels over ranks; 0: identically distributed", {0, 1e9});
  training.validation = flags.get("validation", false, "score on a split held out of the training set");
  training.evaluate_every = flags.get("evaluate-every", std::int64_t{0},
                                      "steps between evaluations; 0: first and last only", {0, most_steps});
  training.evaluate_seconds = flags.get("evaluate-seconds", "0s", Unit::seconds,
                                        "simulated time between evaluations, in place of steps; 0s: by steps");
  training.relaxation.seed =
      static_cast<std::uint64_t>(flags.get("seed", std::int64_t{1}, "seed of everything random"));
}

void read_how_it_communicates(Params& flags, TrainingOptions& training) {
  training.algorithm = flags.get("algorithm", "all_reduce", "how ranks agree (trigram list algorithms)");
  training.relaxation.overlap = flags.get("overlap", true, "communicate beside backward where the algorithm can");
  training.relaxation.optimizer_in_backward =
      flags.get("optimizer-in-backward", true,
                "step a bucket within backward where the algorithm waits for no gradients of others; off: after it, as "
                "loops of PyTorch do");
  training.relaxation.gradients =
      parse_gradients(flags.get("gradients", "f32",
                                "f32, fp16 or bf16: what gradients are rounded to, and full-precision means of them "
                                "travel and are added in"));
  training.relaxation.hierarchy = parse_hierarchy(flags.get("hierarchy", "none", "none, leader or all_nics"));
  training.buckets.bytes = static_cast<std::int64_t>(
      flags.get("bucket-size", "10MiB", Unit::bytes, "a bucket is closed at this size; 0: a bucket a parameter"));
  training.buckets.cycle = flags.get("cycle-time", "0s", Unit::seconds,
                                     "gradients that are ready in one such piece of backward are fused, and no others, "
                                     "where a profile says how long its layers take; 0s: by size alone");
  training.buckets.alignment =
      flags.get("bucket-alignment", std::int64_t{1}, "elements to which buckets are padded", {1, 1 << 30});
}

TrainingOptions read_training(Params& flags) {
  TrainingOptions training;
  read_what_is_trained(flags.in_group(what_is_trained), training);
  read_how_it_communicates(flags.in_group(how_it_communicates), training);
  return training;
}

}  // namespace

int read_hierarchy_chunks(Params& flags) {
  return flags.get(
      "hierarchy-chunks", 1,
      "chunks in which a hierarchy takes a full-precision mean by all_reduce: phases of one inside nodes run beside "
      "that of another between them; what is compressed, gossip and push_pull have none",
      {1, 1024});
}

std::string profile_workload(const std::string& profile) {
  const Spec spec = Spec::parse(profile);
  if (spec.name.find('/') == std::string::npos && !spec.name.ends_with(".csv")) return profile;
  return "profile:file=" + spec.name + (spec.parameters.empty() ? "" : "," + spec.parameters);
}

RunFlags::RunFlags(Params& flags)
    : place(flags.in_group(where_it_runs)),
      training(read_training(flags)),
      world(read_world(flags.in_group(how_it_communicates))) {
  system = flags.get("system", "",
                     "a published system whose way to communicate is the default of other flags, as horovod (trigram "
                     "list systems), or a file");
  flags.in_group(what_is_kept);
  const std::string record = flags.get("record", "rank0", "rows of steps.csv: rank0 or all");
  require(
      record == "rank0" || record == "all", flags.owner(), ": record=", [&] { return shown(record); },
      " is neither rank0 nor all");
  training.record_all = record == "all";
  trace = flags.get("trace", false, "write trace.json, for Perfetto or chrome://tracing");
  training.keep_spans = world.keep_spans = trace;
  out = flags.get("out", "results/run", "folder of the result files");
  progress = flags.get("progress", false, "show steps on standard error while they pass");
  read_checkpoints(flags);
  read_membership(flags.in_group(where_it_runs));
  world.ranks = place.ranks;
}

namespace {

/// The same for "out", "out/" and "./out".
std::filesystem::path place_of(const std::filesystem::path& folder) {
  std::error_code ignored;
  return std::filesystem::weakly_canonical(std::filesystem::absolute(folder, ignored) / "", ignored);
}

}  // namespace

void RunFlags::read_checkpoints(Params& flags) {
  checkpoint = flags.get("checkpoint", "",
                         "folder to leave checkpoints in, every --checkpoint-every steps and after the last one");
  training.checkpoint.every =
      flags.get("checkpoint-every", std::int64_t{0}, "steps between checkpoints; 0: none", {0, most_steps});
  resume = flags.get("resume", "", "resume from the last checkpoint of this folder, or from this manifest");
  require(checkpoint.empty() == (training.checkpoint.every == 0), flags.owner(),
          ": --checkpoint FOLDER and --checkpoint-every STEPS, 1 or more, need each other; give both or neither");
  require(checkpoint.empty() || place_of(checkpoint) != place_of(out), flags.owner(),
          ": --checkpoint and --out are the same folder; give checkpoints one of their own");
  require(resume.empty() || !trace, flags.owner(),
          ": --trace needs a run from its begin, since no checkpoint holds spans; leave it or --resume out");
}

void RunFlags::read_membership(Params& flags) {
  membership = flags.get("membership", "",
                         "when members join, leave and are lost: a file of steps or times, or as mtbf:mean=1h (trigram "
                         "list memberships)");
  detection_s = flags.get("detection", "1s", Unit::seconds,
                          "simulated time until a member that is lost is missed, with --membership");
  meeting_s = flags.get("meeting", "0s", Unit::seconds,
                        "simulated time in which members meet again at each change, beside what travels");
  require(membership.empty() || (checkpoint.empty() && resume.empty() && !trace), flags.owner(),
          ": --membership makes a run of several epochs, of which no --checkpoint and no --trace is left and none is "
          "resumed; leave them out");
}

std::filesystem::path RunFlags::membership_file() const {
  return Memberships::has(Spec::parse(membership).name) ? "" : membership;
}

namespace {

/// Flags that change no result.
bool only_reports(std::string_view flag) {
  using namespace std::string_view_literals;
  return flag == "out"sv || flag == "progress"sv || flag == "checkpoint"sv || flag == "checkpoint-every"sv ||
         flag == "resume"sv;
}

void append_line(std::string& text, const std::string& key, const std::string& value) {
  text.append(key).append("=").append(value).append("\n");
}

}  // namespace

RunConfig::RunConfig(Params flags) : RunFlags(flags), backend(flags.owner(), place) {
  static const Settings defaults = run_defaults();
  flags.reject_unknown();
  settings = defaults;
  for (const auto& [key, value] : flags.values()) settings[key] = value;
  settings["cluster"] = place.cluster;
  if (training.optimizer.empty() && Algorithms::make(training.algorithm)->uses_optimizer())
    settings["optimizer"] = training.optimizer = default_optimizer;
}

RunConfig::RunConfig(const std::string& owner, const Settings& given) : RunConfig(as_params(owner, given)) {}

std::string RunConfig::identity() const {
  std::string text;
  for (const auto& [key, value] : settings) {
    if (!only_reports(key)) append_line(text, key, value);
  }
  for (const auto& [key, value] : backend.parameters.values()) append_line(text.append("cluster."), key, value);
  if (const std::string bars = backend.error_bars.text(); !bars.empty()) text += "error bars=" + bars + "\n";
  return text;
}

const std::vector<Params::Declared>& run_flags() {
  static const std::vector<Params::Declared> flags = [] {
    std::vector<Params::Declared> declared = declared_flags<RunFlags>("trigram run");
    std::ranges::stable_sort(declared, {}, [](const Params::Declared& flag) {
      return std::ranges::find(groups, flag.group) - std::ranges::begin(groups);
    });
    declared.push_back({"config", "text", "", "a file of the same flags as key = value lines; flags win over it"});
    return declared;
  }();
  return flags;
}

Settings run_defaults() {
  Settings defaults = defaults_of(run_flags());
  defaults.erase("config");
  return defaults;
}

Settings with_cluster(Settings run) {
  run.emplace("cluster", run_defaults().at("cluster"));
  return run;
}

}  // namespace trigram
