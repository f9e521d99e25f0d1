// Starts a script as a process of this one's group.
#include "experiments/program/script.hpp"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <memory>
#include <vector>

#include "core/error.hpp"

extern char** environ;

namespace trigram {
namespace {

constexpr const char* system_python = "/usr/bin/python3";

/// While it lives, Ctrl-C does nothing to this process.
class IgnoredInterrupt {
 public:
  IgnoredInterrupt() {
    struct sigaction ignore {};
    ignore.sa_handler = SIG_IGN;
    ::sigaction(SIGINT, &ignore, &before_);
  }
  ~IgnoredInterrupt() { ::sigaction(SIGINT, &before_, nullptr); }
  IgnoredInterrupt(const IgnoredInterrupt&) = delete;
  IgnoredInterrupt& operator=(const IgnoredInterrupt&) = delete;

 private:
  struct sigaction before_ {};
};

/// A file without a name that holds `text`, read from its beginning: arguments of a process have a limit, a file none.
using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;
File file_of(const std::string& text) {
  File file(std::tmpfile(), std::fclose);
  ensure(file != nullptr && std::fwrite(text.data(), 1, text.size(), file.get()) == text.size() &&
             std::fflush(file.get()) == 0,
         "cannot write a temporary file");
  std::rewind(file.get());
  return file;
}

/// The process that begins with Ctrl-C at its default, which it would else inherit as ignored.
pid_t spawn(std::vector<char*>& words, std::FILE* input) {
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  sigset_t interrupt;
  sigemptyset(&interrupt);
  sigaddset(&interrupt, SIGINT);
  ::posix_spawnattr_setsigdefault(&attributes, &interrupt);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, ::fileno(input), STDIN_FILENO);
  pid_t pid = 0;
  const int failed = ::posix_spawn(&pid, system_python, &actions, &attributes, words.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  require(failed == 0, "cannot start ", system_python, "; install python3");
  return pid;
}

}  // namespace

int run_script(const std::filesystem::path& script, const std::string& input) {
  std::vector<std::string> all{system_python, "-I", "-B", script.string()};
  std::vector<char*> arguments;
  for (std::string& word : all) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::cout.flush();
  const File read = file_of(input);
  const IgnoredInterrupt ignored;
  const pid_t pid = spawn(arguments, read.get());
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  ensure(WIFEXITED(status), script.filename().string() + " was ended by signal " + std::to_string(WTERMSIG(status)));
  return WEXITSTATUS(status);
}

}  // namespace trigram
