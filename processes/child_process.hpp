// One forked process and the pipe on which it sends its one message.
#pragma once

#include <sys/types.h>

#include <functional>
#include <mutex>
#include <string>

#include "core/training/carried_error.hpp"
#include "core/world/bytes.hpp"

namespace trigram {

/// The child's end of the pipe: a result or an error, whichever comes first.
class HomeLine {
 public:
  explicit HomeLine(int descriptor) : descriptor_(descriptor) {}
  void send_result(const Bytes& result) { send(std::byte{0}, result); }
  void send_error(const CarriedError& error) { send(std::byte{1}, error.packed()); }

 private:
  void send(std::byte kind, const Bytes& body);

  int descriptor_;
  std::mutex mutex_;
  bool sent_ = false;
};

/// The parent's view of the child. The destructor kills it if it still runs, and reaps it.
class ChildProcess {
 public:
  /// Forks. `body` runs in the child, which ends when it returns, and when the parent ends.
  ChildProcess(std::string name, const std::function<void(HomeLine&)>& body);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  /// To poll for reading; -1 once the pipe is closed.
  int pipe() const { return pipe_; }
  /// Reads what is there; at the end of the pipe the child is reaped.
  void read_some();
  bool ended() const { return pipe_ < 0; }
  /// Whether it has sent a whole error, which `result` throws although the child may still run.
  bool reported_error() const;
  /// The result, once ended. Throws what the child sent as an error, or BackendError for a child that died.
  Bytes result() const;
  void kill();

 private:
  bool whole() const;
  [[noreturn]] void throw_died() const;

  std::string name_;
  pid_t id_ = 0;
  int pipe_ = -1;
  int status_ = 0;
  Bytes received_;
};

/// Runs `body` in a forked process and returns what it gave: for what leaves traces in a process, as an engine that
/// cannot be made twice, or the question how many GPUs there are. Errors as `ChildProcess::result` throws them; `name`
/// is what they call the process. Throws Interruption, once one is noted, and ends the child. Call it from a process
/// with one thread.
Bytes run_in_child(const std::string& name, const std::function<Bytes()>& body);

}  // namespace trigram
