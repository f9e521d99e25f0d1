// The three ways in which Trigram fails. Library code throws; it never prints and never exits.
#pragma once

#include <stdexcept>
#include <string>

namespace trigram {

/// Something went wrong inside Trigram: a broken contract or an impossible state.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The user can fix it: the message names the value, the place, and what would be right.
class UsageError : public Error {
 public:
  using Error::Error;
};

/// The machine or the network failed: a dead peer, a lost link, a deadlock, a vendor library's error.
class BackendError : public Error {
 public:
  using Error::Error;
};

/// Throws Error(message) unless `condition` holds.
inline void ensure(bool condition, const std::string& message) {
  if (!condition) throw Error(message);
}

/// Throws UsageError(message) unless `condition` holds.
inline void require(bool condition, const std::string& message) {
  if (!condition) throw UsageError(message);
}

}  // namespace trigram
