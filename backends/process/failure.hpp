// The first error of a rank, which releases its other lanes.
#pragma once

#include <atomic>
#include <exception>
#include <mutex>

namespace trigram {

/// Shared by all lanes of a rank. A lane that waits on the network looks here, since its peers may be waiting for a
/// lane of this rank that has failed.
class Failure {
 public:
  /// Keeps the first error; later ones are mostly its consequences.
  void report(std::exception_ptr error);
  /// The lane that waited for a body has its error: what follows is its decision.
  void deliver();
  /// The main lane is leaving with an error of its own that nobody has caught yet.
  void release();
  bool raised() const { return raised_; }
  /// Whether the main lane is leaving: no further body of a lane may begin.
  bool leaving() const { return released_; }
  /// Throws the first error, or a BackendError where the main lane has kept it.
  [[noreturn]] void rethrow();

 private:
  std::atomic<bool> raised_{false};
  std::atomic<bool> released_{false};
  std::mutex mutex_;
  std::exception_ptr first_;
};

}  // namespace trigram
