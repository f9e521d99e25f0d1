// Starts the plotting script as a process.
#include "experiments/plotting.hpp"

#include <spawn.h>
#include <sys/wait.h>

#include <vector>

#include "core/error.hpp"
#include "experiments/places.hpp"

extern char** environ;

namespace trigram {
namespace {

/// The system's Python, whose matplotlib is Debian's.
constexpr const char* python = "/usr/bin/python3";
constexpr int no_matplotlib = 3;

}  // namespace

void draw(const std::filesystem::path& folder) {
  namespace fs = std::filesystem;
  require(fs::exists(folder / "run.json") || fs::exists(folder / "study.json"),
          "'" + folder.string() + "' holds neither run.json nor study.json; give the folder of a run or of a study");
  const std::string script = (shipped_folder("plot") / "plot.py").string();
  std::vector<std::string> words = {python, script, folder.string()};
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t pid = 0;
  require(::posix_spawn(&pid, python, nullptr, nullptr, arguments.data(), environ) == 0,
          std::string("cannot start ") + python + "; install python3 and python3-matplotlib");
  int status = 0;
  ::waitpid(pid, &status, 0);
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
  require(code != no_matplotlib, "matplotlib is missing; install python3-matplotlib");
  require(code == 0, "plotting '" + folder.string() + "' failed, as printed above");
}

}  // namespace trigram
