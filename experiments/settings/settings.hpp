// A configuration as text: flag names and values, in layers, before anything is made of them.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/registry/params.hpp"

namespace trigram {

/// Flag → value. A key "FLAG.PARAMETER" ("cluster.nic_bandwidth") sets one parameter inside that flag's spec.
using Settings = std::map<std::string, std::string>;

/// `above` wins over `below`.
Settings layered(const Settings& below, const Settings& above);

/// The "key = value" lines of a file without sections. Throws UsageError for a malformed line, a section, or a key
/// given twice, naming the line.
Settings read_settings(const std::filesystem::path& path);

/// Every flag that was declared by reading it, as given or by default.
Settings with_defaults(const Params& flags);

/// What they are where nobody says.
Settings defaults_of(const std::vector<Params::Declared>& flags);

/// "name:key=old,…" with key=value in place of, or after, what is there.
std::string with_parameter(const std::string& spec, const std::string& key, const std::string& value);

/// Every "FLAG.PARAMETER" merged into FLAG's spec, which is that of `defaults` where FLAG is not set; other flags that
/// are not set stay so, since some mean something else when they are given. Throws UsageError where FLAG has no value.
Settings resolved(const Settings& settings, const Settings& defaults);

/// Flags as parameters, to be read; of a value with a range ("25us in 15us..60us") the value. `owner` is what messages
/// name, as "trigram run".
Params as_params(const std::string& owner, const Settings& flags);

/// The flags that a `Flags` declares by reading them.
template <class Flags>
std::vector<Params::Declared> declared_flags(const std::string& owner) {
  Params flags(owner, "");
  const Flags defaults(flags);
  return flags.declared();
}

}  // namespace trigram
