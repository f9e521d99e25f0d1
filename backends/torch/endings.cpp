#include "backends/torch/endings.hpp"

#include <exception>
#include <string>

#include "core/values/error.hpp"

namespace trigram::torch {
namespace {

std::string key_of(int rank) { return "ended/" + std::to_string(rank); }

}  // namespace

void NotedEndings::tell(std::int64_t steps) noexcept {
  try {
    rendezvous_.note(key_of(rendezvous_.rank()), std::to_string(steps));
  } catch (const std::exception&) {
    return;  // the place is gone, of which all ranks learn by themselves
  }
}

std::optional<std::int64_t> NotedEndings::steps_at_end(int rank) {
  try {
    const std::optional<std::string> noted = rendezvous_.noted(key_of(rank));
    return noted ? std::optional<std::int64_t>(std::stoll(*noted)) : std::nullopt;
  } catch (const BackendError&) {
    return std::nullopt;  // the place is gone, as in tell
  }
}

}  // namespace trigram::torch
