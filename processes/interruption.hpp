// Ctrl-C, or a request to end, noted for code that must write something before the process ends.
#pragma once

#include "core/values/error.hpp"

namespace trigram {

/// The process was asked to end by a signal.
class Interruption : public Error {
 public:
  explicit Interruption(int signal);
  /// What a process gives that ends by it: 130 after Ctrl-C.
  int exit_code() const { return exit_code_; }

 private:
  int exit_code_;
};

/// While it lives, SIGINT and SIGTERM are noted, in this process and in those that it forks, instead of ending them.
/// The third one ends the process as ever, whatever it hangs in.
class NotedInterruptions {
 public:
  NotedInterruptions();
  ~NotedInterruptions();
  NotedInterruptions(const NotedInterruptions&) = delete;
  NotedInterruptions& operator=(const NotedInterruptions&) = delete;
};

/// Throws Interruption once a signal was noted.
void require_no_interruption();

}  // namespace trigram
