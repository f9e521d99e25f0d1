// trigram report: what a folder of results holds, as one page.
#include <nlohmann/json.hpp>

#include "core/error.hpp"
#include "experiments/program/command_line.hpp"
#include "experiments/program/plotting.hpp"
#include "experiments/program/script.hpp"
#include "experiments/program/subcommand.hpp"
#include "experiments/settings/places.hpp"

namespace trigram {
namespace {

constexpr int missing_module = 3;

int write_page(const Arguments& arguments) {
  const CommandLine command_line{
      "report",
      "Writes report.html into the folder of a run, of a study or of a search: figures that a "
      "browser lets you explore, pictures, tables, configuration and command, in one file "
      "that needs no other.",
      "trigram report results/run",
      {},
      "DIR",
      "folder of results"};
  if (command_line.helped(arguments)) return 0;
  const Settings given = command_line.parse(arguments);
  require(given.contains("DIR"), "trigram report: name the folder of a run, of a study or of a search");
  const std::filesystem::path folder = given.at("DIR");
  require_results(folder);
  const int code =
      run_script(shipped_folder("report") / "report.py", nlohmann::json{{"page", (folder / "report.html").string()}}.dump());
  require(code != missing_module,
          "a module of Python is missing; install python3-jinja2, python3-matplotlib and python3-plotly, or by pip "
          "install 'trigram[pictures]'");
  return code;
}

}  // namespace

const Subcommand report_subcommand = {"report", "write a run, a study or a search as one page", write_page};

}  // namespace trigram
