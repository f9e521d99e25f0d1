// trigram export: a run's trace for other simulators. A new kind is a new file of experiments/export/kinds.
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/registry/registry.hpp"
#include "core/values/error.hpp"
#include "experiments/program/flags/command_line.hpp"
#include "experiments/program/scripts/script.hpp"
#include "experiments/program/scripts/script_kinds.hpp"
#include "experiments/record/report_file.hpp"
#include "experiments/settings/places.hpp"

namespace trigram {
namespace {

struct ExportFlags {
  explicit ExportFlags(Params& flags)
      : out(flags.get("out", "results/exported", "folder of what is written")),
        name(flags.get("name", "trigram", "what files begin with, as NAME.0.et of rank 0")) {}

  std::filesystem::path out;
  std::string name;
};

CommandLine export_command_line() {
  return {"export",
          "Writes the trace of a run, trace.json of a folder that `trigram run --trace on` has made, as another tool "
          "reads it.\n\nKIND is" +
              listed(script_kinds("export")),
          "trigram export chakra results/run --out results/chakra",
          declared_flags<ExportFlags>("trigram export"),
          "KIND DIR",
          "the kind, then the folder of the run"};
}

int export_run(const Arguments& arguments) {
  const CommandLine command_line = export_command_line();
  if (command_line.helped(arguments)) return 0;
  Settings settings = command_line.parse(arguments);
  const std::string kind = known_script_kind("export", "kind of file", settings);
  const std::string run = settings["DIR"];
  require(!kind.empty() && !run.empty(), "trigram export: say KIND and DIR, as in: ", command_line.example);
  settings.erase("KIND");
  settings.erase("DIR");
  Params given = as_params("trigram export", settings);
  const ExportFlags flags(given);
  const ResultFolder folder(flags.out, {"export.json"});
  return run_script(
      shipped_folder("export") / "export.py",
      nlohmann::json{{"kind", kind}, {"run", run}, {"out", flags.out.string()}, {"name", flags.name}}.dump());
}

}  // namespace

const Subcommand export_subcommand = {"export", "write a run's trace for other simulators", export_run};

}  // namespace trigram
