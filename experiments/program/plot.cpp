// trigram plot: pictures of a finished run or study.
#include "core/error.hpp"
#include "experiments/program/command_line.hpp"
#include "experiments/program/plotting.hpp"

namespace trigram {
namespace {

int plot(const Arguments& arguments) {
  const CommandLine command_line{"plot",
                                 "Draws the files of a run or of a study as PNG and SVG, into the same folder; of two "
                                 "runs, one beside the other, into the first one's.",
                                 "trigram plot results/run",
                                 {},
                                 "DIR OTHER",
                                 "folders of results; OTHER, of a second run, may be left out"};
  if (command_line.helped(arguments)) return 0;
  const Settings given = command_line.parse(arguments);
  require(given.contains("DIR"), "trigram plot: name the folder of a run or of a study");
  std::vector<std::filesystem::path> folders{given.at("DIR")};
  if (given.contains("OTHER")) folders.emplace_back(given.at("OTHER"));
  draw(folders);
  return 0;
}

}  // namespace

const Subcommand plot_subcommand = {"plot", "draw the result files of a run or a study", plot};

}  // namespace trigram
