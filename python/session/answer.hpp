// What every function of the library's surface does with its outcome.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "core/values/error.hpp"

namespace trigram {

using Json = nlohmann::json;

/// What a call gives besides 0.
inline constexpr int failed_call = 1, refused_call = 2;

/// Of the last call on this thread: its answer, or its message.
inline thread_local std::string last_reply;

template <class Body>
int answer(const Body& body) noexcept {
  try {
    last_reply.clear();
    body();
    return 0;
  } catch (const UsageError& error) {
    last_reply = error.what();
    return refused_call;
  } catch (const std::exception& error) {
    last_reply = error.what();
    return failed_call;
  } catch (...) {
    last_reply = "something was thrown that is no error and has no message";
    return failed_call;
  }
}

/// Memory of the caller.
inline void* address(std::uint64_t number) {
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(number));  // NOLINT(performance-no-int-to-ptr)
}

}  // namespace trigram
