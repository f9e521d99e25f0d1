// The kinds of products that `trigram check` knows, and which of them a name is.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "core/registry/registry.hpp"

namespace trigram {

/// A kind, and the names of its products.
struct NamedKind {
  const char* name;
  std::vector<std::string> (*names)();
};

/// The index of the kind that is asked for, or of the only one that has the name. Throws UsageError for an unknown kind
/// or name, and where several kinds have it.
std::size_t kind_of(std::span<const NamedKind> kinds, const std::string& asked, const std::string& product);

/// Names without the kind of device that they are for.
template <class Interface>
std::vector<std::string> names_on_devices() {
  std::vector<std::string> names;
  for (const std::string& name : Registry<Interface>::names()) names.push_back(name.substr(name.find('/') + 1));
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace trigram
