// The three ways in which Trigram fails. Library code throws; it never prints and never exits.
#pragma once

#include <charconv>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

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

/// Shortest text of a number that reads back as the same.
template <class Number>
std::string number_text(Number number) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, number).ptr};
}

/// One part of a message as text: text itself, a number, or a callable that gives one of them.
template <class Part>
std::string part_text(const Part& part) {
  static_assert(!std::is_same_v<Part, bool> && !std::is_same_v<Part, char>, "give text or a number");
  if constexpr (std::is_invocable_v<const Part&>) {
    return part_text(part());
  } else if constexpr (std::is_arithmetic_v<Part>) {
    return number_text(part);
  } else {
    return std::string(std::string_view(part));
  }
}

/// Throws a Failure whose message is its parts in a row. Apart from the checks, which stay small where they are
/// inlined.
template <class Failure, class... Parts>
[[noreturn, gnu::cold, gnu::noinline]] void fail_with(const Parts&... parts) {
  throw Failure((std::string() + ... + part_text(parts)));
}

/// Throws Error unless `condition` holds. The message is made of its parts only then, so that a check costs a branch:
/// ensure(i < n, "element ", i, " of ", n). What takes work to say is a callable.
template <class... Parts>
inline void ensure(bool condition, const Parts&... parts) {
  if (!condition) [[unlikely]]
    fail_with<Error>(parts...);
}

/// The same with UsageError.
template <class... Parts>
inline void require(bool condition, const Parts&... parts) {
  if (!condition) [[unlikely]]
    fail_with<UsageError>(parts...);
}

}  // namespace trigram
