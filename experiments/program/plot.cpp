// trigram plot: pictures of a finished run or study.
#include "core/error.hpp"
#include "core/params.hpp"
#include "experiments/program/command_line.hpp"
#include "experiments/program/plotting.hpp"
#include "experiments/settings/settings.hpp"

namespace trigram {
namespace {

struct PlotFlags {
  explicit PlotFlags(Params& flags)
      : paper{
            .formats = flags.get("formats", "png,svg", "files of each picture: png, svg and pdf, apart by commas"),
            .columns = flags.get("columns", 0,
                                 "of a two-column paper, that pictures are as wide as: 1 (3.4 inches) or 2 (7 inches); "
                                 "0: for a screen",
                                 {0, 2})} {}

  Paper paper;
};

int plot(const Arguments& arguments) {
  const CommandLine command_line{
      "plot",
      "Draws the files of a run, of a study or of a search, into the same folder; of several "
      "runs, one beside the other, into the first one's.",
      "trigram plot results/run --formats pdf --columns 1",
      declared_flags<PlotFlags>("trigram plot"),
      "DIR...",
      "folders of results; more than one, of runs that are compared"};
  if (command_line.helped(arguments)) return 0;
  const auto [settings, folders] = command_line.parse_words(arguments);
  require(!folders.empty(), "trigram plot: name the folder of a run or of a study");
  Params flags = as_params("trigram plot", settings);
  draw({folders.begin(), folders.end()}, PlotFlags(flags).paper);
  return 0;
}

}  // namespace

const Subcommand plot_subcommand = {"plot", "draw the result files of a run or a study", plot};

}  // namespace trigram
