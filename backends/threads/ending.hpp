// Why a run on threads ends early.
#pragma once

#include <atomic>
#include <exception>
#include <mutex>
#include <string>

namespace trigram::threads {

/// Shared by all ranks of a run. Any thread may call.
class Ending {
 public:
  /// The first error counts: later ones are mostly its consequences.
  void fail(int rank, const std::exception_ptr& error);
  bool over() const { return over_; }
  /// What a rank hears that waited for another one: a BackendError with whose failure it was, and its text.
  [[noreturn]] void throw_on(int rank) const;
  /// The rank whose error it was; below 0 where there is none. Of a run whose ranks have ended.
  int failed() const { return failed_; }

 private:
  std::atomic<bool> over_ = false;
  mutable std::mutex mutex_;
  int failed_ = -1;
  std::string reason_;  ///< the error's text, since other threads may not look at what its own is handling
};

}  // namespace trigram::threads
