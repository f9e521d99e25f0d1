// The first error of a rank, which releases its other lanes.
#pragma once

#include <atomic>
#include <exception>
#include <mutex>

namespace trigram {

/// The first error of a rank, shared by all its lanes. A lane that waits on the network looks here, since its peers may
/// be waiting for a lane of this rank that has failed.
class Failure {
 public:
  /// Keeps the first error and wakes lanes that wait; later errors are mostly consequences of the first.
  void report(std::exception_ptr error);
  /// Pending::wait is rethrowing the error to the main lane, which decides what follows: forgets the error.
  void deliver();
  /// The main lane is unwinding with an error: wakes lanes that wait, and no further task starts.
  void release();
  bool raised() const { return raised_; }
  /// Whether the main lane is unwinding: no further task may start.
  bool leaving() const { return released_; }
  /// Throws the first error; a BackendError where it is no longer held.
  [[noreturn]] void rethrow();

 private:
  std::atomic<bool> raised_{false};
  std::atomic<bool> released_{false};
  std::mutex mutex_;
  std::exception_ptr first_;
};

}  // namespace trigram
