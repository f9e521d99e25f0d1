// trigram plot: pictures of a finished run or study.
#include <optional>

#include "core/registry/params.hpp"
#include "core/values/error.hpp"
#include "core/values/located.hpp"
#include "experiments/program/flags/command_line.hpp"
#include "experiments/program/scripts/plotting.hpp"
#include "experiments/record/report_file.hpp"
#include "experiments/settings/settings.hpp"
#include "experiments/study/comparison/curve_view.hpp"

namespace trigram {
namespace {

constexpr const char* compared_folder = "results/compared";

struct PlotFlags {
  explicit PlotFlags(Params& flags)
      : options{.formats = flags.get("formats", "png,svg", "files of each picture: png, svg and pdf, apart by commas"),
                .columns = flags.get("columns", 0,
                                     "of a two-column paper, that pictures are as wide as: 1 (3.4 inches) or 2 "
                                     "(7 inches); 0: for a screen",
                                     {0, 2}),
                .out = flags.get("out", "",
                                 "folder of the pictures; empty: that of the results, and of several runs " +
                                     std::string(compared_folder))} {
    const auto read = [&](const std::string& key, void (*set)(CurveView&, const std::string&),
                          const std::string& description) {
      const std::string text = flags.get(key, "", "of learning curves: " + description);
      located("trigram plot: --" + key + ": ", [&] { set(options.curves, text); });
    };
    read("against", set_against, "panels beside each other, of step,time,bytes,energy,money; empty: all");
    read("scores", set_scores, "panels below each other, of loss,accuracy,worst_accuracy; empty: all");
    read("x-axis", set_x_axis,
         "linear or log, of all panels but those by steps; empty: log where some lines are five times as long as "
         "others");
    read("range", set_ranges, "what is shown of an axis, as time=0s:60s,bytes=0:2GB,loss=0.1:3; empty: all");
  }

  PictureOptions options;
};

int plot(const Arguments& arguments) {
  const CommandLine command_line{
      "plot",
      "Draws the files of a run, of a study or of a search, into the same folder; several runs beside each other, into "
      "a folder of their own.",
      "trigram plot results/run --formats pdf --columns 1",
      declared_flags<PlotFlags>("trigram plot"),
      "DIR...",
      "folders of results; more than one, of runs that are compared"};
  if (command_line.helped(arguments)) return 0;
  const auto [settings, folders] = command_line.parse_words(arguments);
  require(!folders.empty(), "trigram plot: name the folder of a run or of a study");
  Params flags = as_params("trigram plot", settings);
  PictureOptions options = PlotFlags(flags).options;
  if (options.out.empty() && folders.size() > 1) options.out = compared_folder;
  std::optional<ResultFolder> made;
  if (!options.out.empty()) made.emplace(options.out, std::vector<std::string>{"picture"});
  draw({folders.begin(), folders.end()}, options);
  return 0;
}

}  // namespace

const Subcommand plot_subcommand = {"plot", "draw the result files of a run or a study", plot};

}  // namespace trigram
