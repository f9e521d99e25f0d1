#include "processes/child_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <span>

#include "core/values/error.hpp"
#include "processes/interruption.hpp"

namespace trigram {
namespace {

constexpr std::size_t header = 1 + sizeof(std::uint64_t);

bool write_all(int file, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return true;
}

[[noreturn]] void be_child(int pipe, pid_t parent, const std::function<void(HomeLine&)>& body) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  HomeLine home(pipe);
  int status = 0;
  try {
    body(home);
  } catch (...) {
    home.send_error(CarriedError::of(std::current_exception()));
    status = 1;
  }
  std::cout.flush();
  std::fflush(nullptr);
  _exit(status);
}

}  // namespace

void HomeLine::send(std::byte kind, const Bytes& body) {
  const std::lock_guard lock(mutex_);
  if (sent_) return;
  sent_ = true;
  const std::uint64_t size = body.size();
  Bytes message(header);
  message[0] = kind;
  std::memcpy(&message[1], &size, sizeof size);
  message.insert(message.end(), body.begin(), body.end());
  write_all(descriptor_, message);  // a parent that is gone wants no answer
}

ChildProcess::ChildProcess(std::string name, const std::function<void(HomeLine&)>& body) : name_(std::move(name)) {
  std::cout.flush();
  std::fflush(nullptr);
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0)
    throw BackendError("cannot open a pipe to " + name_ + ": " + std::strerror(errno));
  const pid_t parent = getpid();
  id_ = fork();
  if (id_ == 0) {
    close(ends[0]);
    be_child(ends[1], parent, body);
  }
  const int reason = errno;
  close(ends[1]);
  pipe_ = ends[0];
  if (id_ > 0) return;
  close(pipe_);
  throw BackendError("cannot start a process for " + name_ + ": " + std::strerror(reason));
}

ChildProcess::~ChildProcess() {
  kill();
  while (!ended()) {
    received_.clear();
    read_some();
  }
}

void ChildProcess::kill() {
  if (!ended()) ::kill(id_, SIGKILL);
}

void ChildProcess::read_some() {
  std::array<std::byte, 65536> piece;
  const ssize_t got = read(pipe_, piece.data(), piece.size());
  if (got < 0 && errno == EINTR) return;
  if (got > 0) {
    received_.insert(received_.end(), piece.begin(), piece.begin() + got);
    return;
  }
  close(pipe_);
  pipe_ = -1;
  while (waitpid(id_, &status_, 0) < 0 && errno == EINTR) continue;
}

bool ChildProcess::whole() const {
  if (received_.size() < header) return false;
  std::uint64_t size = 0;
  std::memcpy(&size, &received_[1], sizeof size);
  return received_.size() == header + size;
}

bool ChildProcess::reported_error() const { return whole() && received_.front() != std::byte{0}; }

Bytes ChildProcess::result() const {
  if (!whole()) throw_died();
  Bytes body(received_.begin() + header, received_.end());
  if (received_.front() != std::byte{0}) CarriedError::from(body).rethrow();
  return body;
}

void ChildProcess::throw_died() const {
  if (WIFSIGNALED(status_)) {
    throw BackendError(name_ + " was ended by signal " + std::to_string(WTERMSIG(status_)) + " (" +
                       strsignal(WTERMSIG(status_)) + ")");
  }
  throw BackendError(name_ + " ended with exit code " + std::to_string(WEXITSTATUS(status_)) +
                     " before it had a result");
}

Bytes run_in_child(const std::string& name, const std::function<Bytes()>& body) {
  ChildProcess child(name, [&](HomeLine& home) { home.send_result(body()); });
  while (!child.ended()) {
    require_no_interruption();
    constexpr int half_a_second = 500;
    pollfd pipe{child.pipe(), POLLIN, 0};
    if (::poll(&pipe, 1, half_a_second) > 0) child.read_some();
  }
  return child.result();
}

}  // namespace trigram
