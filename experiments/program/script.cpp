// Starts a script as a process of this one's group.
#include "experiments/program/script.hpp"

#include <spawn.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <iostream>

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

/// The process that begins with Ctrl-C at its default, which it would else inherit as ignored.
pid_t spawn(std::vector<char*>& words) {
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  sigset_t interrupt;
  sigemptyset(&interrupt);
  sigaddset(&interrupt, SIGINT);
  ::posix_spawnattr_setsigdefault(&attributes, &interrupt);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  pid_t pid = 0;
  const int failed = ::posix_spawn(&pid, system_python, nullptr, &attributes, words.data(), environ);
  ::posix_spawnattr_destroy(&attributes);
  require(failed == 0, "cannot start ", system_python, "; install python3");
  return pid;
}

}  // namespace

int run_script(const std::filesystem::path& script, const std::vector<std::string>& words) {
  std::vector<std::string> all{system_python, "-I", "-B", script.string()};
  all.insert(all.end(), words.begin(), words.end());
  std::vector<char*> arguments;
  for (std::string& word : all) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::cout.flush();
  const IgnoredInterrupt ignored;
  const pid_t pid = spawn(arguments);
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  ensure(WIFEXITED(status), script.filename().string() + " was ended by signal " + std::to_string(WTERMSIG(status)));
  return WEXITSTATUS(status);
}

}  // namespace trigram
