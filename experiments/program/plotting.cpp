// Starts the plotting script as a process.
#include "experiments/program/plotting.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <iostream>

#include "core/error.hpp"
#include "core/quoted.hpp"
#include "experiments/settings/places.hpp"

extern char** environ;

namespace trigram {
namespace {

namespace fs = std::filesystem;

/// The system's Python, whose matplotlib is Debian's.
constexpr const char* python = "/usr/bin/python3";
constexpr int unusable = 2;
constexpr int no_matplotlib = 3;

/// How a process ended, and what it printed.
struct Ended {
  int code = 0;
  std::string text;
};

std::string read_all(int in) {
  std::string text;
  std::array<char, 4096> piece{};
  for (;;) {
    const ssize_t count = ::read(in, piece.data(), piece.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;
    text.append(piece.data(), static_cast<std::size_t>(count));
  }
}

/// Apart from the current folder and from Python's variables (-I), and without leaving compiled modules behind (-B).
Ended run_python(std::vector<std::string> words) {
  words.insert(words.begin(), {python, "-I", "-B"});
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::array<int, 2> ends{};
  ensure(::pipe2(ends.data(), O_CLOEXEC) == 0, "cannot open a pipe");
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  pid_t pid = 0;
  const int failed = ::posix_spawn(&pid, python, &actions, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  Ended ended;
  if (failed == 0) ended.text = read_all(ends[0]);
  ::close(ends[0]);
  require(failed == 0, std::string("cannot start ") + python + "; install python3 and python3-matplotlib");
  int status = 0;
  ::waitpid(pid, &status, 0);
  ended.code = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
  if (WIFSIGNALED(status)) ended.text = "ended by signal " + std::to_string(WTERMSIG(status));
  return ended;
}

}  // namespace

void require_results(const fs::path& folder) {
  std::error_code ignored;
  const bool drawable = std::ranges::any_of(std::array{"run.json", "study.json", "tune.json"},
                                            [&](const char* name) { return fs::exists(folder / name, ignored); });
  require(drawable, Quoted(folder.native()),
          " holds neither run.json nor study.json nor tune.json; give the folder of a run, a study or a search");
}

void draw(const std::vector<std::filesystem::path>& folders) {
  std::vector<std::string> words{(shipped_folder("plot") / "plot.py").string()};
  for (const fs::path& folder : folders) {
    require_results(folder);
    words.push_back(folder.string());
  }
  const Ended ended = run_python(std::move(words));
  if (ended.code == 0) {
    std::cout << ended.text;
    return;
  }
  const std::string message = ended.text.substr(0, ended.text.find_last_not_of('\n') + 1);
  require(ended.code != no_matplotlib, "matplotlib is missing (" + message + "); install python3-matplotlib");
  require(ended.code != unusable, "cannot draw '" + folders.front().string() + "': " + message);
  throw Error("plotting '" + folders.front().string() + "' failed: " + message);
}

}  // namespace trigram
