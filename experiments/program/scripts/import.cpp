// trigram import: from files that other tools wrote to a profile, a cluster and measurements, and the check of them. A
// new kind is a new file of experiments/import/kinds.
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "core/values/decimal.hpp"
#include "core/values/error.hpp"
#include "experiments/fit/predictions/predictor.hpp"
#include "experiments/program/flags/command_line.hpp"
#include "experiments/program/scripts/script.hpp"
#include "experiments/program/scripts/script_kinds.hpp"
#include "experiments/record/report_file.hpp"
#include "experiments/settings/cluster.hpp"
#include "experiments/settings/places.hpp"

namespace trigram {
namespace {

namespace fs = std::filesystem;

struct ImportFlags {
  explicit ImportFlags(Params& flags)
      : out(flags.get("out", "results/imported", "folder of what is written")),
        cluster(
            flags.get("cluster", "", "a cluster that has what the files cannot say; empty: the program's defaults")),
        batch(flags.get("batch", std::int64_t{1}, "of a trace: samples a step of each rank", {1, 1'000'000'000})),
        untraced_step(flags.get("untraced-step", "0s", Unit::seconds,
                                "of a trace: what a step takes without the profiler; 0: unknown", {0, 1e6})),
        op(flags.get("op", "", "of a table that does not name its collective: which it is, as all_reduce")),
        check(flags.get("check", true, "of a trace: simulate the step that was traced, and print both times")) {}

  fs::path out;
  std::string cluster;
  std::int64_t batch;
  double untraced_step;
  std::string op;
  bool check;
};

CommandLine import_command_line() {
  const std::string synopsis =
      "Reads files that other tools wrote and leaves a profile, a cluster or a table of measurements, for run "
      "--profile,\n"
      "--cluster and calibrate --from. Says what each figure was taken from, and what could not be known.\n\nKIND is" +
      listed(script_kinds("import"));
  return {"import",
          synopsis,
          "trigram import pytorch rank0.json.gz rank1.json.gz --batch 32 --out results/mine",
          declared_flags<ImportFlags>("trigram import"),
          "KIND FILE...",
          "the kind, then its files"};
}

/// Keys of the cluster that is given for what files do not say.
Settings base_cluster(const std::string& cluster) {
  return cluster.empty() ? Settings{} : read_cluster(cluster).values();
}

nlohmann::json plan_of(const std::string& kind, const std::vector<std::string>& files, const ImportFlags& flags) {
  return {{"kind", kind},
          {"files", files},
          {"out", flags.out.string()},
          {"base", base_cluster(flags.cluster)},
          {"given", {{"batch", flags.batch}, {"op", flags.op}, {"untraced_step", flags.untraced_step}}}};
}

/// Simulates what was traced, on the cluster that was written.
void check_traced_step(const fs::path& out) {
  std::ifstream file(out / "import.json");
  const nlohmann::json facts = nlohmann::json::parse(file);
  const nlohmann::json& traced = facts.at("traced");
  if (traced.is_null()) return;
  Measurement row;
  row.place = "the run that was traced: ";
  row.settings = facts.at("flags").get<Settings>();
  row.settings["workload"] = "profile:file=" + (out / "profile.csv").string();
  const double predicted = Predictor(1).predict({{&row, (out / "cluster.cfg").string(), {}}}).front().seconds;
  const auto text = [](double seconds) { return decimal(1e3 * seconds, 4) + " ms"; };
  const double percent = 100 * (predicted / traced.at("step_s").get<double>() - 1);
  std::cout << "check:\n  - the simulator says " << text(predicted) << " for the step that was traced, which took "
            << text(traced.at("step_s")) << " (" << text(traced.at("least_s")) << " to " << text(traced.at("most_s"))
            << "): " << (percent < 0 ? "" : "+") << decimal(percent, 2) << " %\n";
}

int import_files(const Arguments& arguments) {
  const CommandLine command_line = import_command_line();
  if (command_line.helped(arguments)) return 0;
  auto [settings, files] = command_line.parse_words(arguments);
  const std::string kind = known_script_kind("import", "kind of file", settings);
  require(!kind.empty() && !files.empty(), "trigram import: say KIND and FILE, as in: ", command_line.example);
  settings.erase("KIND");
  Params given = as_params("trigram import", settings);
  const ImportFlags flags(given);
  const std::string plan = plan_of(kind, files, flags).dump();
  const ResultFolder folder(flags.out, {"import.json"});
  const int code = run_script(shipped_folder("import") / "import.py", plan);
  if (code == 0 && flags.check) check_traced_step(flags.out);
  return code;
}

}  // namespace

const Subcommand import_subcommand = {"import", "read traces and benchmarks of other tools", import_files};

}  // namespace trigram
