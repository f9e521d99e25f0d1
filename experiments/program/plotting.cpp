// Runs the plotting script.
#include "experiments/program/plotting.hpp"

#include <algorithm>
#include <array>
#include <iostream>
#include <sstream>
#include <string>
#include <system_error>

#include "core/error.hpp"
#include "core/quoted.hpp"
#include "experiments/program/script.hpp"
#include "experiments/settings/places.hpp"

namespace trigram {
namespace {

namespace fs = std::filesystem;

constexpr int unusable = 2;
constexpr int no_matplotlib = 3;

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
  require(drawable, Quoted(folder.native()),
          " holds neither run.json nor study.json nor tune.json; give the folder of a run, a study or a search");
}

void draw(const std::vector<std::filesystem::path>& folders, const Paper& paper) {
  require_formats(paper.formats);
  std::vector<std::string> arguments{"--formats", paper.formats};
  if (paper.columns > 0) arguments.insert(arguments.end(), {"--columns", std::to_string(paper.columns)});
  for (const fs::path& folder : folders) {
    require_results(folder);
    arguments.push_back(folder.string());
  }
  const ScriptOutput ended = read_script(shipped_folder("plot") / "plot.py", std::move(arguments));
  if (ended.code == 0) {
    std::cout << ended.text;
    return;
  }
  const std::string message = ended.text.substr(0, ended.text.find_last_not_of('\n') + 1);
  require(ended.code != no_matplotlib,
          "matplotlib is missing (" + message + "); install python3-matplotlib, or by pip install 'trigram[pictures]'");
  require(ended.code != unusable, "cannot draw '" + folders.front().string() + "': " + message);
  throw Error("plotting '" + folders.front().string() + "' failed: " + message);
}

}  // namespace trigram
