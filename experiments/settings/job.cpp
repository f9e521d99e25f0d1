#include "experiments/settings/job.hpp"

#include <set>

#include "core/registry/backend_traits.hpp"
#include "experiments/settings/build_facts.hpp"
#include "experiments/settings/launcher.hpp"

namespace trigram {
namespace {

/// Flags that ranks may be given differently: rank 0 alone writes and shows, and backends have some of their own.
std::set<std::string> of_one_process() {
  std::set<std::string> keys{"out", "progress"};
  for (const BackendFlag& flag : backend_flags()) {
    if (flag.of_one_process) keys.insert({flag.name, flag.parameter});
  }
  return keys;
}

}  // namespace

void require_ranks_of(const Backend& backend, const std::string& command, const BackendChoice& place) {
  if (backend.spans_processes()) return;
  require_started_alone(command + " on backend '" + place.flags.backend + "'",
                        "name a --backend whose ranks are processes");
}

Configuration same_on_all_ranks(const std::string& subcommand, const Settings& flags, const BackendChoice& place) {
  const std::set<std::string> own = of_one_process();
  Configuration same{{"subcommand", subcommand}, {"version", build_version()}};
  for (const auto& [key, value] : flags) {
    if (!own.contains(key)) same[key] = value;
  }
  same["backend"] = place.backend;  // with its parameters
  for (const auto& [key, value] : place.parameters.values()) {
    if (!own.contains(key)) same["parameter " + key] = value;
  }
  return same;
}

}  // namespace trigram
