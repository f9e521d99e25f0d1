// trigram report: what a folder of results holds, as one page.
#include <nlohmann/json.hpp>

#include "core/values/error.hpp"
#include "experiments/program/flags/command_line.hpp"
#include "experiments/program/flags/subcommand.hpp"
#include "experiments/program/scripts/page.hpp"
#include "experiments/program/scripts/plotting.hpp"

namespace trigram {
namespace {

int report(const Arguments& arguments) {
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
  return write_page(folder / "report.html", nullptr);
}

}  // namespace

const Subcommand report_subcommand = {"report", "write a run, a study or a search as one page", report};

}  // namespace trigram
