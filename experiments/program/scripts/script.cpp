// Starts a script as a process of this one's group.
#include "experiments/program/scripts/script.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <memory>
#include <utility>

#include "core/values/error.hpp"
#include "processes/launcher_variables.hpp"

extern char** environ;

namespace trigram {
namespace {

/// The Python of the package that started us, which has what pip has installed beside it; else the system's.
std::string python() { return environment_value("TRIGRAM_PYTHON").value_or("/usr/bin/python3"); }

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

/// A pipe, whose ends are closed with it or before.
class Pipe {
 public:
  Pipe() { ensure(::pipe2(ends_.data(), O_CLOEXEC) == 0, "cannot open a pipe"); }
  ~Pipe() {
    ::close(ends_[0]);
    close_writing_end();
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  int writing_end() const { return ends_[1]; }

  void close_writing_end() {
    if (ends_[1] >= 0) ::close(ends_[1]);
    ends_[1] = -1;
  }

  std::string read_all() const {
    std::string text;
    std::array<char, 4096> piece{};
    for (;;) {
      const ssize_t count = ::read(ends_[0], piece.data(), piece.size());
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return text;
      text.append(piece.data(), static_cast<std::size_t>(count));
    }
  }

 private:
  std::array<int, 2> ends_{};
};

/// Starts Python with `words`, where `descriptor` of this process is the child's `stream`. Apart from the current
/// folder and from Python's variables (-I), without leaving compiled modules behind (-B), and with Ctrl-C at its
/// default, which it would else inherit as ignored.
pid_t start_python(std::vector<std::string> words, int descriptor, int stream) {
  const std::string python_path = python();
  words.insert(words.begin(), {python_path, "-I", "-B"});
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  sigset_t interrupt;
  sigemptyset(&interrupt);
  sigaddset(&interrupt, SIGINT);
  ::posix_spawnattr_setsigdefault(&attributes, &interrupt);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, descriptor, stream);
  pid_t pid = 0;
  const int failed = ::posix_spawn(&pid, python_path.c_str(), &actions, &attributes, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  require(failed == 0, "cannot start ", python_path, "; install python3");
  return pid;
}

int exit_code_of(pid_t pid, const std::filesystem::path& script) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  ensure(WIFEXITED(status), script.filename().string() + " was ended by signal " + std::to_string(WTERMSIG(status)));
  return WEXITSTATUS(status);
}

}  // namespace

int run_script(const std::filesystem::path& script, const std::string& input) {
  std::cout.flush();
  const File read = file_of(input);
  const IgnoredInterrupt ignored;
  return exit_code_of(start_python({script.string()}, ::fileno(read.get()), STDIN_FILENO), script);
}

ScriptOutput read_script(const std::filesystem::path& script, std::vector<std::string> arguments) {
  Pipe pipe;
  arguments.insert(arguments.begin(), script.string());
  const pid_t pid = start_python(std::move(arguments), pipe.writing_end(), STDOUT_FILENO);
  pipe.close_writing_end();
  std::string text = pipe.read_all();
  text.erase(text.find_last_not_of('\n') + 1);
  return {exit_code_of(pid, script), std::move(text)};
}

}  // namespace trigram
