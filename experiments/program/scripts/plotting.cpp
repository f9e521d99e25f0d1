// Runs the plotting script.
#include "experiments/program/scripts/plotting.hpp"

#include <algorithm>
#include <array>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <system_error>

#include "core/values/error.hpp"
#include "core/values/quoted.hpp"
#include "experiments/program/scripts/script.hpp"
#include "experiments/settings/places.hpp"
#include "experiments/study/comparison/curve_view.hpp"

namespace trigram {
namespace {

namespace fs = std::filesystem;

constexpr int unusable = 2;
constexpr int module_missing = 3;

void require_formats(const std::string& formats) {
  std::istringstream words(formats);
  bool any = false;
  for (std::string word; std::getline(words, word, ','); any = true)
    require(word == "png" || word == "svg" || word == "pdf", Quoted(word),
            " is no format of pictures; there are png, svg and pdf, as png,pdf");
  require(any, "a picture has a format: png, svg or pdf");
}

}  // namespace

void require_results(const fs::path& folder) {
  std::error_code ignored;
  const bool drawable = std::ranges::any_of(std::array{"run.json", "study.json", "tune.json"},
                                            [&](const char* name) { return fs::exists(folder / name, ignored); });
  require(drawable || !fs::is_directory(folder / "runs", ignored), Quoted(folder.native()),
          " holds runs of a study that has not ended; its command makes the others, and then draws");
  require(drawable, Quoted(folder.native()),
          " holds neither run.json nor study.json nor tune.json; give the folder of a run, a study or a search");
}

void draw(const std::vector<std::filesystem::path>& folders, const PictureOptions& options) {
  require_formats(options.formats);
  std::vector<std::string> arguments{"--formats", options.formats, "--curves", curve_facts(options.curves).dump()};
  if (options.columns > 0) arguments.insert(arguments.end(), {"--columns", std::to_string(options.columns)});
  if (!options.out.empty()) arguments.push_back("--out=" + options.out.string());
  arguments.emplace_back("--");  // a folder's name may begin with a dash
  for (const fs::path& folder : folders) {
    require_results(folder);
    arguments.push_back(folder.string());
  }
  const ScriptOutput ended = read_script(shipped_folder("plot") / "plot.py", std::move(arguments));
  if (ended.code == 0) {
    if (!ended.text.empty()) std::cout << ended.text << "\n";
    return;
  }
  require(ended.code != module_missing, "pictures need what is missing here (" + ended.text +
                                            "); install python3-matplotlib and python3-fastjsonschema, or by pip "
                                            "install 'trigram[pictures]'");
  require(ended.code != unusable, "cannot draw '" + folders.front().string() + "': " + ended.text);
  throw Error("plotting '" + folders.front().string() + "' failed: " + ended.text);
}

}  // namespace trigram
