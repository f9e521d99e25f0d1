// Reads systems from files.
#include "experiments/settings/system.hpp"

#include <algorithm>

#include "core/registry/spelling.hpp"
#include "core/values/error.hpp"
#include "core/values/quoted.hpp"
#include "experiments/settings/cluster.hpp"
#include "experiments/settings/places.hpp"
#include "experiments/settings/run_config.hpp"

namespace trigram {
namespace {

std::string flag_of(const std::string& key) { return key.substr(0, key.find('.')); }

/// Whether `given` sets "FLAG.PARAMETER" inside FLAG's value.
bool sets_inside(const Settings& given, const std::string& key) {
  const std::size_t dot = key.find('.');
  const auto flag = given.find(flag_of(key));
  if (dot == std::string::npos || flag == given.end()) return false;
  const Spec spec = Spec::parse(flag->second);
  return Params("--" + flag->first, spec.parameters).has(key.substr(dot + 1));
}

/// Whether the cluster's own file says something of "cluster.KEY": it is nearer to the place than a system is. A
/// platform file says everything of its links.
bool cluster_states(const Settings& given, const std::vector<Params::Declared>& flags, const std::string& key) {
  const std::string prefix = "cluster.";
  if (!key.starts_with(prefix)) return false;
  const auto declared = std::ranges::find(flags, "cluster", &Params::Declared::key);
  const auto named = given.find("cluster");
  const std::string cluster = named != given.end()      ? named->second
                              : declared != flags.end() ? declared->fallback
                                                        : std::string();
  if (cluster.empty()) return false;
  try {
    const Params its = read_cluster(cluster);
    return its.has("platform") || its.has(key.substr(prefix.size()));
  } catch (const UsageError&) {
    return false;  // which is said where the cluster is used
  }
}

bool are_among(const std::vector<Params::Declared>& flags, const std::string& flag) {
  return std::ranges::any_of(flags, [&](const Params::Declared& declared) { return declared.key == flag; });
}

void require_flag_of_a_run(const std::string& flag, const std::filesystem::path& file) {
  require(flag != "system" && flag != "config", Quoted(file.native()), ": a system file cannot set ", flag,
          "; copy that file's lines into this one");
  std::vector<std::string> known;
  for (const Params::Declared& declared : run_flags()) known.push_back(declared.key);
  require(std::ranges::find(known, flag) != known.end(), Quoted(file.native()), ": ", Quoted(flag),
          " is no flag of trigram run", [&] { return did_you_mean(flag, known); });
}

}  // namespace

Settings with_system(const Settings& given, const std::vector<Params::Declared>& flags) {
  const auto named = given.find("system");
  if (named == given.end() || named->second.empty()) return given;
  const std::filesystem::path file = find_config("systems", "system", named->second);
  Settings all = given;
  for (const auto& [key, value] : read_settings(file)) {
    require_flag_of_a_run(flag_of(key), file);
    if (are_among(flags, flag_of(key)) && !sets_inside(given, key) && !cluster_states(given, flags, key))
      all.emplace(key, value);
  }
  return all;
}

}  // namespace trigram
