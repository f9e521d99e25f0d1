#include "experiments/settings/job.hpp"

#include <algorithm>
#include <array>

#include "experiments/settings/build_facts.hpp"
#include "experiments/settings/launcher.hpp"

namespace trigram {
namespace {

/// Rank 0 alone writes and shows, and ranks may reach one meeting place in different ways.
bool of_one_process(const std::string& key) {
  constexpr std::array<std::string_view, 3> keys{"out", "progress", "rendezvous"};
  return std::ranges::find(keys, key) != keys.end();
}

}  // namespace

void require_ranks_of(const Backend& backend, const std::string& command, const std::string& name) {
  if (backend.spans_processes()) return;
  require_started_alone(command + " on backend '" + name + "'", "name a --backend whose ranks are processes");
}

Configuration same_on_all_ranks(const std::string& subcommand, const Settings& flags, const Params& cluster) {
  Configuration same{{"subcommand", subcommand}, {"version", build_version()}};
  for (const auto& [key, value] : flags) {
    if (!of_one_process(key)) same[key] = value;
  }
  same["backend"] = Spec::parse(flags.at("backend")).name;  // its parameters are among the cluster's
  for (const auto& [key, value] : cluster.values()) {
    if (!of_one_process(key)) same["parameter " + key] = value;
  }
  return same;
}

}  // namespace trigram
