// A configuration as text, in layers.
#include "experiments/settings/settings.hpp"

#include "core/values/error.hpp"
#include "core/values/quoted.hpp"
#include "core/values/uncertain_value.hpp"
#include "experiments/settings/files/config_file.hpp"

namespace trigram {
namespace {

/// A value that holds the syntax's own characters goes in parentheses.
std::string parenthesized(const std::string& value) {
  return value.find_first_of(",=():") == std::string::npos ? value : "(" + value + ")";
}

}  // namespace

Settings layered(const Settings& below, const Settings& above) {
  Settings all = above;
  all.insert(below.begin(), below.end());
  return all;
}

Settings read_settings(const std::filesystem::path& path) {
  Settings settings;
  for (const ConfigEntry& entry : read_config_file(path)) {
    require(entry.section.empty(), place_of(path, entry), "section [", shown(entry.section),
            "] in a file of plain keys");
    settings.emplace(entry.key, entry.value);
  }
  return settings;
}

Params as_params(const std::string& owner, const Settings& flags) {
  Params params(owner, "");
  for (const auto& [key, value] : flags) params.set(key, without_range(value));
  return params;
}

Settings defaults_of(const std::vector<Params::Declared>& flags) {
  Settings all;
  for (const Params::Declared& flag : flags) all[flag.key] = flag.fallback;
  return all;
}

Settings with_defaults(const Params& flags) {
  Settings all = defaults_of(flags.declared());
  for (const auto& [key, value] : flags.values()) all[key] = value;
  return all;
}

std::string with_parameter(const std::string& text, const std::string& key, const std::string& value) {
  const Spec spec = Spec::parse(text);
  Params parameters(in_quotes(spec.name), spec.parameters);
  parameters.set(key, value);
  std::string merged = spec.name;
  for (const auto& [name, set] : parameters.values())
    merged += (merged == spec.name ? ":" : ",") + name + "=" + parenthesized(set);
  return merged;
}

Settings resolved(const Settings& settings, const Settings& defaults) {
  Settings whole;
  for (const auto& [key, value] : settings) {
    if (key.find('.') == std::string::npos) whole[key] = value;
  }
  for (const auto& [key, value] : settings) {
    const std::size_t dot = key.find('.');
    if (dot == std::string::npos) continue;
    const std::string flag = key.substr(0, dot);
    if (const auto fallback = defaults.find(flag); fallback != defaults.end()) whole.insert(*fallback);
    require(whole.contains(flag) && !whole[flag].empty(), Quoted(key), " sets a parameter of --", shown(flag),
            ", which is no flag or has no value");
    whole[flag] = with_parameter(whole[flag], key.substr(dot + 1), value);
  }
  return whole;
}

}  // namespace trigram
