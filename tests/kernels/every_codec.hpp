// Codecs that suites try with given parameters, and all others without.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/device/codec.hpp"

namespace trigram {

/// These specs, and every other codec that all kinds of device in this build have, with its defaults.
inline std::vector<std::string> with_every_other(const std::vector<std::string>& specs) {
  std::set<std::string> named, kinds;
  std::map<std::string, std::size_t> kinds_of;
  for (const std::string& spec : specs) named.insert(Spec::parse(spec).name);
  for (const std::string& registered : Codecs::names()) {
    const std::size_t slash = registered.find('/');
    kinds.insert(registered.substr(0, slash));
    ++kinds_of[registered.substr(slash + 1)];
  }
  std::vector<std::string> all = specs;
  for (const auto& [name, count] : kinds_of) {
    if (count == kinds.size() && named.insert(name).second) all.push_back(name);
  }
  return all;
}

}  // namespace trigram
