// Forks, runs, and brings bytes or an error home through a pipe.
#include "backends/sim/child.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iostream>
#include <string>

#include "core/carried_error.hpp"
#include "core/error.hpp"

namespace trigram::sim {

namespace {

enum class Ending : unsigned char { result, error };

struct Message {
  Ending ending = Ending::result;
  std::vector<std::byte> body;
};

Message perform(const std::function<std::vector<std::byte>()>& work) {
  try {
    return {Ending::result, work()};
  } catch (...) {
    return {Ending::error, CarriedError::of(std::current_exception()).packed()};
  }
}

bool write_all(int file, const void* data, std::size_t size) {
  const auto* at = static_cast<const std::byte*>(data);
  while (size > 0) {
    const ssize_t written = write(file, at, size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    at += written;
    size -= static_cast<std::size_t>(written);
  }
  return true;
}

[[noreturn]] void be_child(int out, pid_t parent, const std::function<std::vector<std::byte>()>& work) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  const Message message = perform(work);
  const std::uint64_t size = message.body.size();
  const bool sent = write_all(out, &message.ending, sizeof message.ending) && write_all(out, &size, sizeof size) &&
                    write_all(out, message.body.data(), message.body.size());
  std::cout.flush();
  std::fflush(nullptr);
  _exit(sent ? 0 : 1);
}

/// Reaps the child, whatever happens to its parent's code.
class Child {
 public:
  Child(pid_t id, int in) : id_(id), in_(in) {}
  ~Child() {
    close(in_);
    if (id_ > 0) {
      kill(id_, SIGKILL);
      reap();
    }
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  std::vector<std::byte> drain() const {
    std::vector<std::byte> bytes;
    std::array<std::byte, 65536> piece;
    for (;;) {
      const ssize_t got = read(in_, piece.data(), piece.size());
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return bytes;
      bytes.insert(bytes.end(), piece.begin(), piece.begin() + got);
    }
  }

  int reap() {
    int status = 0;
    while (waitpid(id_, &status, 0) < 0 && errno == EINTR) continue;
    id_ = 0;
    return status;
  }

 private:
  pid_t id_;
  int in_;
};

Message decode(std::vector<std::byte> bytes, int status) {
  constexpr std::size_t header = sizeof(Ending) + sizeof(std::uint64_t);
  std::uint64_t size = 0;
  if (bytes.size() >= header) std::memcpy(&size, bytes.data() + sizeof(Ending), sizeof size);
  if (bytes.size() < header || bytes.size() != header + size) {
    if (WIFSIGNALED(status)) {
      throw BackendError("the simulation was ended by signal " + std::to_string(WTERMSIG(status)) + " (" +
                         strsignal(WTERMSIG(status)) + ")");
    }
    throw BackendError("the simulation ended with exit code " + std::to_string(WEXITSTATUS(status)) +
                       " before it had a result");
  }
  const auto ending = static_cast<Ending>(bytes.front());
  bytes.erase(bytes.begin(), bytes.begin() + header);
  return {ending, std::move(bytes)};
}

}  // namespace

std::vector<std::byte> run_in_child(const std::function<std::vector<std::byte>()>& work) {
  std::cout.flush();
  std::fflush(nullptr);
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0)
    throw BackendError(std::string("cannot open a pipe to a simulation: ") + std::strerror(errno));
  const pid_t parent = getpid();
  const pid_t id = fork();
  if (id < 0) {
    const int reason = errno;
    close(ends[0]);
    close(ends[1]);
    throw BackendError(std::string("cannot start a process for a simulation: ") + std::strerror(reason));
  }
  if (id == 0) {
    close(ends[0]);
    be_child(ends[1], parent, work);
  }
  close(ends[1]);
  Child child(id, ends[0]);
  std::vector<std::byte> bytes = child.drain();
  Message message = decode(std::move(bytes), child.reap());
  if (message.ending == Ending::error) CarriedError::from(message.body).rethrow();
  return std::move(message.body);
}

}  // namespace trigram::sim
