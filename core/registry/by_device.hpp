// Products that are registered once for each kind of device, as "cpu/one_bit" and "cuda/one_bit", and named "one_bit".
#pragma once

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/registry/registry.hpp"

namespace trigram {

/// The product for `kind` of device from "name:key=value,…". Throws UsageError as Registry::make does.
template <class Interface>
std::unique_ptr<Interface> make_on(std::string_view kind, std::string_view spec) {
  const std::string prefix = std::string(kind) + "/";
  const std::string name = Spec::parse(spec).name;
  if (Registry<Interface>::has(prefix + name)) return Registry<Interface>::make(prefix + std::string(spec));
  std::vector<std::string> known;
  for (const std::string& registered : Registry<Interface>::names()) {
    if (registered.starts_with(prefix)) known.push_back(registered.substr(prefix.size()));
  }
  throw_unknown_name(Interface::registry_kind, name, known);
}

/// "cpu/", or whatever kind of device has a product of that name. Throws UsageError where none has.
template <class Interface>
std::string kind_with(const std::string& name) {
  std::set<std::string> known;
  for (const std::string& registered : Registry<Interface>::names()) {
    const std::string kind = registered.substr(0, registered.find('/') + 1);
    if (registered == kind + name) return kind;
    known.insert(registered.substr(kind.size()));
  }
  throw_unknown_name(Interface::registry_kind, name, {known.begin(), known.end()});
}

/// The product for any kind of device, for what is the same on all, before any device exists.
template <class Interface>
std::unique_ptr<Interface> make_on_any(std::string_view spec) {
  return Registry<Interface>::make(kind_with<Interface>(Spec::parse(spec).name) + std::string(spec));
}
/// The same with parameters gathered elsewhere.
template <class Interface>
std::unique_ptr<Interface> make_on_any(const std::string& name, Params& params) {
  return Registry<Interface>::make(kind_with<Interface>(name) + name, params);
}

}  // namespace trigram
